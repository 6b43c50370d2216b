//! Records of changes whose copies are written later, or may have to be: in the background, or after a commit.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use bson::raw::RawDocumentBuf;
use bson::{Bson, DateTime, Document as BsonDocument, doc, oid::ObjectId};
use futures_core::future::BoxFuture;

use super::super::collected::Collected;
use super::super::copies::facts::{Facts, settle};
use super::super::copies::kept::Kept;
use super::super::copies::throttled::{Throttle, Written};
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta, PROPAGATIONS};
use crate::store::options::Options;
use crate::store::{CollectionName, Operation, limits};

/// All handles write the same records, whatever names they use.
const COLLECTION: CollectionName = CollectionName::Declared(PROPAGATIONS.collection);

/// How many records are read at a time.
const RECORDS: i64 = 100;

/// The records of one change: which documents have changed.
#[derive(Debug, Default)]
pub(super) struct Records(Vec<BsonDocument>);

impl Records {
    /// Adds a change of the documents with these keys, by the stored path of the key.
    pub(super) fn add(&mut self, collection: &str, key: &str, keys: &Keys) {
        for part in keys.parts() {
            let part = Bson::from(part);
            let is_same = |record: &BsonDocument| {
                record.get_str("collection").ok() == Some(collection)
                    && record.get_str("key").ok() == Some(key)
                    && record.get("keys") == Some(&part)
            };
            // Copies of several kinds may follow from one change.
            if self.0.iter().any(is_same) {
                continue;
            }
            let record = doc! {
                "_id": ObjectId::new(),
                "collection": collection,
                "key": key,
                "keys": part,
                "at": DateTime::now(),
            };
            self.0.push(record);
        }
    }

    /// Adds the records of another change.
    pub(super) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Writes the records, or writes them again: `resume_propagation` may have removed them meanwhile.
    pub(super) async fn write(
        &self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
    ) -> Result<()> {
        for record in &self.0 {
            let id = record.get("_id").cloned();
            let statement = doc! {"q": {"_id": id}, "u": record.clone(), "upsert": true};
            channel
                .named(COLLECTION, model)
                .update(vec![statement])
                .await?;
        }
        Ok(())
    }

    pub(super) async fn remove(
        &self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
    ) -> Result<()> {
        let ids: Vec<Bson> = self
            .0
            .iter()
            .filter_map(|one| one.get("_id").cloned())
            .collect();
        for ids in ids.chunks(limits::STATEMENTS) {
            let filter = doc! {"_id": {"$in": ids}};
            channel
                .named(COLLECTION, model)
                .delete(vec![filter])
                .await?;
        }
        Ok(())
    }
}

/// A change whose copies are not all written, as it was read.
struct Record {
    id: Bson,
    key: String,
    keys: Keys,
}

impl Record {
    fn read(document: &RawDocumentBuf) -> Result<Self> {
        let malformed = || Error::malformed_reply("a record of a propagation");
        let record = BsonDocument::try_from(document).map_err(Error::encode)?;
        let mut keys = Keys::default();
        let values = document.get_array("keys").map_err(|_| malformed())?;
        for value in values {
            keys.add(value.map_err(Error::encode)?)?;
        }
        Ok(Self {
            id: record.get("_id").cloned().ok_or_else(malformed)?,
            key: record.get_str("key").map_err(|_| malformed())?.to_owned(),
            keys,
        })
    }
}

/// A change of documents that has not reached all that follows from it.
#[derive(Debug)]
pub(crate) struct PendingPropagation {
    pub(crate) id: Bson,
    /// The name of the collection whose documents have changed.
    pub(crate) collection: String,
    pub(crate) at: Option<DateTime>,
}

/// The records of changes that have begun before a time, and that have not ended.
pub(crate) async fn pending_propagations(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    before: DateTime,
) -> Result<Vec<PendingPropagation>> {
    let find = Operation::Find {
        // A record of another program may lack the time.
        filter: doc! {"at": {"$not": {"$gt": before}}}.into(),
        one: false,
    };
    let options = Options {
        sort: Some(doc! {"_id": 1}),
        projection: Some(doc! {"collection": 1, "at": 1}),
        ..channel.current()
    };
    let mut pending = Vec::new();
    let records = channel.named(COLLECTION, model);
    let read = records.read(find, options.into(), |record| {
        let record = BsonDocument::try_from(record).map_err(Error::encode)?;
        pending.push(PendingPropagation {
            id: record.get("_id").cloned().unwrap_or(Bson::Null),
            collection: record.get_str("collection").unwrap_or_default().to_owned(),
            at: record.get_datetime("at").ok().copied(),
        });
        Ok(())
    });
    read.await?;
    Ok(pending)
}

/// The most documents of one command of a throttled run.
const MOST_DOCUMENTS: usize = 10_000;

const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// Counts written copies in the record of their change.
struct RecordProgress<'r> {
    record: &'r Bson,
    model: &'static ModelMeta,
    documents: u64,
}

impl Written for RecordProgress<'_> {
    async fn written(&mut self, channel: &mut Channel<'_>, documents: u64) -> Result<()> {
        self.documents += documents;
        let count = i64::try_from(documents).unwrap_or(i64::MAX);
        let change = doc! {"$inc": {"written": count}, "$currentDate": {"written_at": true}};
        // Another run may have completed the change and removed the record.
        let statement = doc! {"q": {"_id": self.record.clone()}, "u": change};
        let records = channel.named(COLLECTION, self.model);
        records.update(vec![statement]).await.map(drop)
    }
}

/// Completes changes whose copies are not all written, about to run: [`Collection::resume_propagation`].
#[must_use = "nothing is written until it is awaited"]
pub struct ResumePropagation<M> {
    channel: Channel<'static>,
    throttle: Option<Throttle>,
    of: PhantomData<fn() -> M>,
}

/// The result of [`Collection::resume_propagation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumeResult {
    /// How many changes were completed.
    pub changes: u64,
    /// How many documents had other values than the fields that they copy, other summaries, or other lists of the newest.
    pub documents: u64,
}

impl<M: Document> Collection<M> {
    /// Writes the copies of this model's fields, and the summaries and lists of the newest in its documents, after changes that
    /// were made [in the background](crate::collection::UpdateDocuments::in_background), or whose propagation stopped before its
    /// end: the process ended, or the future was dropped.
    ///
    /// Such a change has left a record in the collection `odm_propagations`, in its own transaction. Any number of processes
    /// may run this at the same time; a record is removed after its copies are written, so a run that stops is resumed by the
    /// next one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).in_background().await?;
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.1");
    ///
    /// let done = hosts.resume_propagation().await?;
    /// assert_eq!((done.changes, done.documents), (1, 3));
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.9");
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume_propagation(&self) -> ResumePropagation<M> {
        ResumePropagation {
            channel: self.channel(),
            throttle: None,
            of: PhantomData,
        }
    }
}

impl<M: Document> ResumePropagation<M> {
    /// Writes at most this many documents by one command, and pauses after each, so that a change with a million copies leaves
    /// MongoDB time for others.
    ///
    /// The record of the change counts the copies that were written (`written` in the collection `odm_propagations`). A run that
    /// stops is continued by the next one: a document that is written does not differ any more.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).in_background().await?;
    /// let resume = hosts.resume_propagation().throttle(2, Duration::from_millis(10));
    /// assert_eq!(resume.await?.documents, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No document at a time, or more than 10,000; a pause of more than 5 minutes, since MongoDB closes a cursor that is not read
    /// for 10.
    pub fn throttle(mut self, documents: usize, pause: Duration) -> Self {
        self.throttle = Some(Throttle { documents, pause });
        self
    }

    async fn run(mut self) -> Result<ResumeResult> {
        let model = M::model();
        if let Some(throttle) = self.throttle
            && !(1..=MOST_DOCUMENTS).contains(&throttle.documents)
        {
            let message = format!("`throttle` takes 1 to {MOST_DOCUMENTS} documents");
            return Err(Error::usage(message).with_model(model.name));
        }
        if self.throttle.is_some_and(|it| it.pause > LONGEST_PAUSE) {
            let message = "`throttle` pauses at most 5 minutes: MongoDB closes a cursor that is not read for 10";
            return Err(Error::usage(message).with_model(model.name));
        }
        resume(&mut self.channel, model, self.throttle).await
    }
}

/// Completes the changes of a model's documents whose copies, summaries and lists are not all written; returns how many.
pub(crate) async fn resume_propagations(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
) -> Result<u64> {
    Ok(resume(channel, model, None).await?.changes)
}

async fn resume(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    throttle: Option<Throttle>,
) -> Result<ResumeResult> {
    let mut result = ResumeResult {
        changes: 0,
        documents: 0,
    };
    let made = Kept::all(model.copied()?.iter().copied())?;
    let held = Collected::held_by(model)?;
    let collection = channel.collection(model);
    loop {
        let find = Operation::Find {
            filter: doc! {"collection": &*collection}.into(),
            one: false,
        };
        let options = Options {
            sort: Some(doc! {"_id": 1}),
            limit: Some(RECORDS),
            ..channel.current()
        };
        let records = channel.named(COLLECTION, model);
        let records = records.documents(find, options.into()).await?;
        if records.is_empty() {
            return Ok(result);
        }
        for record in &records {
            let record = Record::read(record)?;
            for kept in made.iter().filter(|kept| kept.key.as_str() == record.key) {
                if let Some(throttle) = throttle {
                    let facts = Facts::read(channel, kept, &record.keys, false).await?;
                    let mut progress = RecordProgress {
                        record: &record.id,
                        model,
                        documents: 0,
                    };
                    let slowly = facts.write_throttled(channel, kept, throttle, &mut progress);
                    slowly.await?;
                    result.documents += progress.documents;
                }
                result.documents += settle(channel, kept, None, &record.keys, None).await?;
            }
            for one in held.iter().filter(|one| one.key().as_str() == record.key) {
                let Some(throttle) = throttle else {
                    result.documents += one.settle(channel, &record.keys).await?;
                    continue;
                };
                for keys in record.keys.values().chunks(throttle.documents) {
                    let keys = Keys::of(keys)?;
                    result.documents += one.settle(channel, &keys).await?;
                    throttle.pause().await;
                }
            }
            let filter = doc! {"_id": record.id};
            let records = channel.named(COLLECTION, model);
            result.changes += records.delete(vec![filter]).await?;
        }
    }
}

impl<M: Document> IntoFuture for ResumePropagation<M> {
    type Output = Result<ResumeResult>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document> fmt::Debug for ResumePropagation<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResumePropagation({})", M::model().collection)
    }
}
