//! Inserts of items.

use std::borrow::Borrow;
use std::fmt;
use std::future::IntoFuture;

use bson::{Bson, doc};
use futures_core::future::BoxFuture;

use super::interval::units;
use super::key::BucketKey;
use super::model::BucketModel;
use super::statement::{Groups, Statement, max};
use crate::collection::{BulkWriteResult, Collection};
use crate::error::{BulkError, Code, Error, Kind, Result, WriteError};
use crate::store::options::{Options, ReadPreference};
use crate::store::{Operation, Session};

/// How often items are sent again that met a unique index.
const TRIES: usize = 8;

/// How many buckets one read looks for.
const BUCKETS: usize = 100;

/// An insert of items, about to run: [`Buckets::insert_one`](super::Buckets::insert_one) and its kin.
///
/// # Errors
///
/// If some of several items could not be stored, the error lists them by their positions
/// ([`Error::write_errors`](crate::Error::write_errors)) and counts the others
/// ([`Error::partial_result`](crate::Error::partial_result)). After a broken connection it is not known whether the last command
/// took effect: the driver sends a single item a second time only if it did not, but sending a call again may store items twice.
#[must_use = "nothing is inserted until it is awaited"]
pub struct InsertItems<'s, M: BucketModel> {
    collection: Collection<M>,
    groups: Result<Groups>,
    session: Option<&'s mut Session>,
}

/// The result of an insert of items.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct InsertItemsResult {
    /// How many items were inserted.
    pub inserted: u64,
    /// The `_id`s of the buckets that were opened for them.
    pub opened: Vec<Bson>,
}

impl<'s, M: BucketModel> InsertItems<'s, M> {
    pub(super) fn of_one<I: Borrow<M::Item>>(
        collection: Collection<M>,
        key: &M::Key,
        items: impl IntoIterator<Item = I>,
    ) -> Self {
        let groups = BucketKey::new::<M>(key).and_then(|key| {
            let mut groups = Groups::default();
            for item in items {
                groups.add::<M>(&key, item.borrow())?;
            }
            Ok(groups)
        });
        Self {
            collection,
            groups,
            session: None,
        }
    }

    pub(super) fn of_several<K: Into<M::Key>, I: Borrow<M::Item>>(
        collection: Collection<M>,
        items: impl IntoIterator<Item = (K, I)>,
    ) -> Self {
        let mut groups = Groups::default();
        let mut items = items.into_iter();
        let added = items.try_for_each(|(key, item)| {
            let key = BucketKey::new::<M>(&key.into())?;
            groups.add::<M>(&key, item.borrow())
        });
        Self {
            collection,
            groups: added.map(|()| groups),
            session: None,
        }
    }

    /// Runs in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// hours.insert_one("s1", reading(10, 00, 19.5)).session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert!(hours.items("s1").all().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(self, session: &'s mut Session) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }

    async fn run(self) -> Result<InsertItemsResult> {
        let Self {
            collection,
            groups,
            mut session,
        } = self;
        let groups = groups?;
        let total = groups.count;
        let mut result = InsertItemsResult::default();
        let in_transaction = session.as_ref().is_some_and(|it| it.in_transaction());
        let (mut failures, mut labels) = (Vec::new(), Vec::new());
        let mut waiting = statements(&collection, groups, session.as_deref_mut()).await?;
        for attempt in 1..=TRIES {
            let sent = send(
                &collection,
                &waiting,
                session.as_deref_mut(),
                in_transaction,
            )
            .await;
            let sent = sent.map_err(|error| after(error, &result, total))?;
            result.inserted += sent.inserted;
            result.opened.extend(sent.opened);
            labels = sent.labels;
            let may_try = attempt < TRIES && !in_transaction;
            let mut again = Vec::new();
            for (position, statement) in waiting.into_iter().enumerate() {
                let mut errors = sent.failures.iter();
                let Some((_, error)) = errors.find(|(failed, _)| *failed == position) else {
                    continue;
                };
                if error.code() == Code::DUPLICATE_KEY && may_try {
                    // Another writer has opened the bucket, which has room now.
                    again.push(statement);
                    continue;
                }
                let items = statement.group.items.iter();
                failures.extend(items.map(|item| WriteError::new(item.index, error.clone())));
            }
            if again.is_empty() {
                break;
            }
            let groups = Groups::again(again)?;
            waiting = statements(&collection, groups, session.as_deref_mut()).await?;
        }
        if failures.is_empty() {
            return Ok(result);
        }
        Err(failed::<M>(failures, labels, &result, total))
    }
}

/// The error of a call of which some items failed.
fn failed<M: BucketModel>(
    mut failures: Vec<WriteError>,
    labels: Vec<String>,
    result: &InsertItemsResult,
    total: usize,
) -> Error {
    failures.sort_by_key(WriteError::index);
    let codes: Vec<Code> = failures.iter().map(|one| one.error().code()).collect();
    let done = BulkWriteResult {
        inserted: result.inserted,
        upserted_ids: result.opened.iter().cloned().enumerate().collect(),
        ..BulkWriteResult::default()
    };
    let model = M::model();
    let error = if let (1, [only]) = (total, failures.as_slice()) {
        Error::new(only.error().clone())
    } else {
        Error::new(BulkError::new(done, failures, None).with_labels(labels))
    };
    let error = crate::exec::refused(error, model);
    if codes.contains(&Code::DUPLICATE_KEY) {
        return error.context(
            "a unique index keeps the items from opening another bucket, and the one that has the key takes no more: `max` is reached",
        );
    }
    if codes.iter().any(|code| TOO_LARGE.contains(code)) {
        return error.context(
            "a bucket would exceed 16 MB: declare a smaller `max`, or `budget(…)`, which computes the largest size",
        );
    }
    error
}

/// The codes of a document beyond 16 MB, as an update makes it and as an insert does.
const TOO_LARGE: [Code; 2] = [Code::location(17419), Code::BSON_OBJECT_TOO_LARGE];

/// An error of a whole command, after others have taken effect.
fn after(error: Error, result: &InsertItemsResult, total: usize) -> Error {
    if result.inserted == 0 {
        return error;
    }
    error.context(format!(
        "after {} of {total} items were inserted",
        result.inserted
    ))
}

/// What one round has done.
#[derive(Default)]
struct Sent {
    inserted: u64,
    opened: Vec<Bson>,
    /// The positions of statements that failed.
    failures: Vec<(usize, crate::error::ServerError)>,
    labels: Vec<String>,
}

impl Sent {
    fn add(&mut self, statements: &[Statement], done: &BulkWriteResult, failed: &[usize]) {
        let items = statements.iter().enumerate();
        let stored = items.filter(|(position, _)| !failed.contains(position));
        let stored: usize = stored.map(|(_, statement)| statement.len()).sum();
        self.inserted += u64::try_from(stored).unwrap_or(u64::MAX);
        self.opened.extend(done.upserted_ids.values().cloned());
    }
}

/// Sends statements; an error is that of a whole command.
async fn send<M: BucketModel>(
    collection: &Collection<M>,
    statements: &[Statement],
    session: Option<&mut Session>,
    in_transaction: bool,
) -> Result<Sent> {
    let mut sent = Sent::default();
    let (filters, updates) = statements
        .iter()
        .map(|statement| Ok((statement.filter::<M>(), statement.update::<M>()?)))
        .collect::<Result<(Vec<_>, Vec<_>)>>()?;
    let mut pairs = filters.into_iter().zip(updates);
    if statements.len() == 1
        && let Some((filter, update)) = pairs.next()
    {
        // The driver sends a single update again after a broken connection.
        let mut call = collection.update_one(|_| filter, |_| update).upsert(true);
        if let Some(session) = session {
            call = call.session(session);
        }
        match call.await {
            Ok(result) => {
                let id = result
                    .upserted_id
                    .map(|id| crate::query::encode(&id))
                    .transpose()?;
                sent.opened.extend(id);
                sent.inserted = statements.iter().map(|one| one.len() as u64).sum();
            }
            Err(error) => match error.kind().server() {
                Some(server) if is_of_items(&error) => sent.failures.push((0, server.clone())),
                _ => return Err(error),
            },
        }
        return Ok(sent);
    }
    let writes = |w: crate::collection::Writes<M>| {
        let write = move |(filter, update)| w.update_one(|_| filter, |_| update).upsert(true);
        pairs.map(write).collect::<Vec<_>>()
    };
    let mut call = collection.bulk_write(writes).ordered(false);
    if let Some(session) = session {
        call = call.session(session);
    }
    match call.await {
        Ok(done) => sent.add(statements, &done, &[]),
        Err(error) => {
            let Kind::Bulk(bulk) = error.kind() else {
                return Err(error);
            };
            if bulk.concern.is_some() || bulk.errors.is_empty() {
                return Err(error);
            }
            let failed: Vec<usize> = bulk.errors.iter().map(WriteError::index).collect();
            // A transaction keeps nothing.
            if !in_transaction {
                sent.add(statements, &bulk.result, &failed);
            }
            sent.labels = error.kind().labels().to_vec();
            for one in &bulk.errors {
                sent.failures.push((one.index(), one.error().clone()));
            }
        }
    }
    Ok(sent)
}

/// Whether an error is about the items, and not about the connection or the rights of the caller.
fn is_of_items(error: &Error) -> bool {
    error.is_duplicate_key()
        || error.validation_failure().is_some()
        || error.code().is_some_and(|code| TOO_LARGE.contains(&code))
}

/// The statements that store the items, in as few buckets as possible.
async fn statements<M: BucketModel>(
    collection: &Collection<M>,
    groups: Groups,
    session: Option<&mut Session>,
) -> Result<Vec<Statement>> {
    let mut rooms: Vec<Vec<usize>> = groups.all.iter().map(|_| Vec::new()).collect();
    let open = groups.all.iter().filter(|group| group.items.len() > 1);
    let open: Vec<Bson> = open.map(|group| group.with_room(1).into()).collect();
    let Some(meta) = M::model().bucket else {
        return Ok(Vec::new());
    };
    let mut session = session;
    for part in open.chunks(BUCKETS) {
        let mut projection = doc! {"_id": 0, meta.start: 1, meta.count: 1};
        projection.extend(
            meta.by
                .iter()
                .map(|name| ((*name).to_owned(), Bson::from(1))),
        );
        let find = Operation::Find {
            filter: doc! {"$or": part}.into(),
            one: false,
        };
        let mut call = collection.call(find);
        let primary = session.as_ref().is_none_or(|it| !it.in_transaction());
        *call.options() = Options {
            projection: Some(projection),
            read_preference: primary.then(ReadPreference::primary),
            ..Options::default()
        };
        call.session = session.as_deref_mut();
        let mut cursor = call.send().await?.cursor()?;
        while let Some(bucket) = cursor.next().await {
            let bucket = bucket.map_err(|error| error.with_model(M::model().name))?;
            let count = bucket.get(meta.count).ok().flatten().and_then(units);
            let left = count.and_then(|count| i64::from(meta.max).checked_sub(count));
            let left = left.and_then(|left| usize::try_from(left).ok());
            let group = groups
                .group_of(bucket)
                .and_then(|group| rooms.get_mut(group));
            if let (Some(left), Some(rooms)) = (left, group) {
                rooms.push(left.min(max(meta)));
            }
        }
    }
    let groups = groups.all.into_iter().zip(rooms);
    let statements = groups.flat_map(|(group, mut rooms)| {
        // The larger part of the items finds the bucket with the larger room.
        rooms.sort_unstable_by(|a, b| b.cmp(a));
        group.statements(rooms)
    });
    Ok(statements.collect())
}

impl<'s, M: BucketModel> IntoFuture for InsertItems<'s, M> {
    type Output = Result<InsertItemsResult>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: BucketModel> fmt::Debug for InsertItems<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.groups.as_ref().map_or(0, |groups| groups.count);
        write!(f, "InsertItems({count} items)")
    }
}

impl InsertItemsResult {
    /// The `_id`s of the opened buckets, as the model declares them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// let result = hours.insert_one("s1", reading(10, 00, 19.5)).await?;
    /// let ids = result.opened_ids::<Hour>()?;
    /// assert!(hours.collection().get(&ids[0]).await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An `_id` is not of that type.
    pub fn opened_ids<M: BucketModel>(&self) -> Result<Vec<M::Id>> {
        let ids = self.opened.iter().cloned();
        ids.map(crate::collection::decode_id::<M>).collect()
    }
}
