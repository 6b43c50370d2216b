//! Updates with guards: conditions in the filter that withhold an update from documents whose lists are full, or have
//! the key of the new element already.
//!
//! An update that takes effect sends one command. Only if it matched nothing, further commands find out whether a guard
//! is the reason.

use bson::raw::RawDocumentBuf;
use bson::{Bson, doc};

use super::UpdateResult;
use super::call::Call;
use super::versions::upgrade::{Place, Upgrading};
use crate::error::{Error, Result, Withheld, WithheldError, WithheldReason};
use crate::exec::{Channel, refused};
use crate::model::{Document, KeyKind, ModelMeta, name};
use crate::query::deferred::Deferred;
use crate::query::node::Node;
use crate::store::options::{Chosen, Options, ReadPreference};
use crate::store::{Operation, Request, Response, Written};
use crate::update::Guard;

/// The guards of one update.
#[derive(Debug, Clone)]
pub(crate) struct Guards {
    /// The filter without the guards.
    filter: Node,
    all: Vec<Guard>,
    /// Whether the filter names the one value of a unique index, so that an upsert can't insert a second document.
    unique: bool,
}

impl Guards {
    /// Joins the filter with the guards, and keeps both apart for the question why nothing matched.
    pub(crate) fn add(
        guards: Vec<Guard>,
        filter: Node,
        model: &ModelMeta,
    ) -> Result<(Node, Option<Box<Self>>), Deferred> {
        if guards.is_empty() {
            return Ok((filter, None));
        }
        let mut nodes = Vec::with_capacity(guards.len() + 1);
        nodes.push(filter.clone());
        for guard in &guards {
            nodes.push(guard.allowed()?);
        }
        let unique = is_unique(&filter, model);
        let kept = Self {
            filter,
            all: guards,
            unique,
        };
        Ok((Node::and(nodes)?, Some(Box::new(kept))))
    }

    /// Refuses an upsert that could insert a second document beside a full one.
    pub(crate) fn check(&self, options: &Options) -> Result<()> {
        let is_short = |it: &&Guard| matches!(it.reason, WithheldReason::Short { .. });
        if options.upsert == Some(true)
            && let Some(short) = self.all.iter().find(is_short)
        {
            return Err(Error::usage(
                "an upsert would store a subdocument instead of the list, with the position as the name of a field: insert the \
                 document with all elements first, by `find_one_or_insert`, and then update it",
            )
            .with_path(short.path.clone()));
        }
        if options.upsert != Some(true) || (self.unique && options.collation.is_none()) {
            return Ok(());
        }
        let path = self.all.first().map(|it| it.path.clone());
        Err(Error::usage(
            "this upsert could insert a second document beside one whose list is full or already has the key: filter \
             by equality on `_id` or on the field of a unique index, without a collation; or push with \
             `push_with(values, |push| push.slice(max))`, which needs no room",
        )
        .with_path(path.unwrap_or_default()))
    }

    /// For each guard, the condition of the documents that match the filter and are withheld, the list and the reason.
    fn conditions(&self) -> Result<Vec<(bson::Document, String, WithheldReason)>> {
        let condition = |guard: &Guard| {
            let condition = Node::and([self.filter.clone(), guard.withheld.clone()])?;
            Ok((condition.into_document()?, guard.path.clone(), guard.reason))
        };
        let conditions: Result<Vec<_>, Deferred> = self.all.iter().map(condition).collect();
        conditions.map_err(|error| error.to_error())
    }
}

/// Whether at most one document can match: the filter is equality on `_id` or on the only field of a unique index.
fn is_unique(filter: &Node, model: &ModelMeta) -> bool {
    let equals = |path: &str| {
        filter
            .equality(path)
            .is_some_and(|value| *value != Bson::Null)
    };
    if equals("_id") {
        return true;
    }
    model.indexes.iter().any(|index| {
        let [key] = index.keys else { return false };
        index.unique
            && index.partial.is_none()
            && index.collation.is_none()
            && matches!(key.kind, KeyKind::Ascending | KeyKind::Descending)
            && name::resolve((model.embedded)(), key.path)
                .is_ok_and(|found| equals(&found.path.to_string()))
    })
}

/// A guarded update on its way.
struct Guarded<'s> {
    channel: Channel<'s>,
    model: &'static ModelMeta,
    request: Request,
    guards: Box<Guards>,
}

impl<'s> Guarded<'s> {
    fn new(mut call: Call<'s>) -> Result<Self> {
        call.complete()?;
        let Call {
            store,
            model,
            request,
            session,
            guards,
            ..
        } = call;
        let Some(guards) = guards else {
            return Err(Error::usage("the update has no guards"));
        };
        Ok(Self {
            channel: Channel::new(store, session),
            model,
            request,
            guards,
        })
    }

    fn upserts(&self) -> bool {
        self.request.options.upsert == Some(true)
    }

    async fn send(&mut self, request: Request) -> Result<Response<'_>> {
        let documents = self.channel.named(request.collection, self.model);
        documents.send(request.operation, request.options).await
    }

    async fn write(&mut self, request: Request) -> Result<Changed> {
        match self.send(request).await? {
            Response::Document(document) => Ok(Changed::Found(document)),
            other => other.written().map(Changed::Written),
        }
    }

    /// Sends the update, and returns what withheld it if it changed nothing.
    async fn run(&mut self) -> Result<(Changed, Vec<Withheld>)> {
        // In a transaction, a duplicate key aborts it.
        let asks_first = self.upserts() && self.channel.is_in_transaction();
        if asks_first {
            let withheld = self.withheld().await?;
            if !withheld.is_empty() {
                return Ok((Changed::Written(Written::default()), withheld));
            }
        }
        let request = self.request.clone();
        match self.write(request).await {
            // An upsert that inserted returns no document from before.
            Ok(changed) if self.upserts() || !changed.is_nothing() => Ok((changed, Vec::new())),
            Ok(changed) => {
                let withheld = self.withheld().await?;
                Ok((changed, withheld))
            }
            Err(error) if inserts(&error) && self.upserts() && !asks_first => {
                self.run_without_upsert(error).await
            }
            Err(error) => Err(error),
        }
    }

    /// Sends the update again, after its upsert tried to insert a document and failed: the list of the stored document
    /// is full, or another client has inserted the document in between.
    async fn run_without_upsert(&mut self, refused: Error) -> Result<(Changed, Vec<Withheld>)> {
        let mut request = self.request.clone();
        request.options.upsert = None;
        let changed = self.write(request).await?;
        if !changed.is_nothing() {
            return Ok((changed, Vec::new()));
        }
        let withheld = self.withheld().await?;
        if withheld.is_empty() {
            return Err(refused);
        }
        Ok((changed, withheld))
    }

    /// The guards that withhold the update from a document that the filter matches, with one such document each.
    async fn withheld(&mut self) -> Result<Vec<Withheld>> {
        let mut withheld = Vec::new();
        for (condition, path, reason) in self.guards.conditions()? {
            let operation = Operation::Find {
                filter: condition.into(),
                one: true,
            };
            let mut request = self.read(operation);
            request.options.projection = Some(doc! {"_id": 1});
            if let Some(found) = self.send(request).await?.cursor()?.next().await {
                found?;
                withheld.push(Withheld {
                    path,
                    reason,
                    documents: 1,
                });
            }
        }
        Ok(withheld)
    }

    /// The guards that withhold the update from documents, with the number of these.
    async fn count(&mut self) -> Result<Vec<Withheld>> {
        let mut withheld = Vec::new();
        for (condition, path, reason) in self.guards.conditions()? {
            let pipeline = vec![doc! {"$match": condition}];
            let request = self.read(Operation::Aggregate { pipeline });
            let matching = self.channel.named(request.collection, self.model);
            let documents = matching.count(request.operation, request.options).await?;
            if documents == 0 {
                continue;
            }
            withheld.push(Withheld {
                path,
                reason,
                documents,
            });
        }
        Ok(withheld)
    }

    /// A read with the options of the update that a read has, too.
    fn read(&self, operation: Operation) -> Request {
        let mut request = Request::new(self.request.collection.clone(), operation);
        if let Some(given) = self.request.options.chosen() {
            request.options = Chosen::from(Options {
                hint: given.hint.clone(),
                comment: given.comment.clone(),
                collation: given.collation.clone(),
                let_vars: given.let_vars.clone(),
                max_time: given.max_time,
                ..Options::default()
            });
        }
        // A secondary may not have the writes that filled the list. A transaction reads where it writes.
        if !self.channel.is_in_transaction() {
            request.options.read_preference = Some(ReadPreference::primary());
        }
        request
    }
}

/// Whether the error can come from inserting a document beside the stored one.
fn inserts(error: &Error) -> bool {
    error.is_duplicate_key() || error.is_validation_failure()
}

/// The result of a write.
enum Changed {
    Written(Written),
    Found(Option<RawDocumentBuf>),
}

impl Changed {
    fn is_nothing(&self) -> bool {
        match self {
            Self::Written(written) => written.n == 0,
            Self::Found(found) => found.is_none(),
        }
    }
}

impl Upgrading {
    /// What an update or a replacement has to do before; `None` if its model has no versions, or another call has done it.
    fn of(call: &Call<'_>) -> Option<Self> {
        let schema = call.model.schema.filter(|_| call.has_versions())?;
        let options = &call.request.options;
        let filter = call.request.operation.filter()?.clone();
        let (multi, replaces) = match &call.request.operation {
            Operation::Update(update) => (update.multi, update.replaces),
            Operation::FindAndUpdate(update) => (false, update.replaces),
            _ => (false, true),
        };
        let is_in_transaction = call.session.as_ref().is_some_and(|it| it.in_transaction());
        let reads = Options {
            sort: options.sort.clone(),
            hint: options.hint.clone(),
            comment: options.comment.clone(),
            collation: options.collation.clone(),
            let_vars: options.let_vars.clone(),
            max_time: options.max_time,
            // A secondary may not have what was just written.
            read_preference: (!is_in_transaction).then(ReadPreference::primary),
            ..Options::default()
        };
        let concern = options.write_concern.clone();
        let defaults = call.defaults.as_ref();
        let concern =
            concern.or_else(|| defaults.and_then(|defaults| defaults.write_concern.clone()));
        let writes = Options {
            comment: options.comment.clone(),
            bypass_document_validation: options.bypass_document_validation,
            write_concern: concern.filter(|_| !is_in_transaction),
            ..Options::default()
        };
        Some(Self {
            place: Place {
                model: call.model,
                schema,
                collection: call.request.collection.clone(),
                options: writes.into(),
            },
            filter,
            reads: reads.into(),
            all: multi || options.upsert == Some(true),
            replaces,
        })
    }

    /// Rewrites what the update would have to change, unless the update can be sent first: then a document of another version is
    /// looked for only if the update matches nothing. Returns whether nothing is left to be rewritten.
    ///
    /// # Errors
    ///
    /// The update is refused before anything is written.
    async fn begin(&self, call: &mut Call<'_>) -> Result<bool> {
        call.again().prepare()?;
        let goes_first = self.all || call.guards.is_some() || self.reads.sort.is_some();
        if goes_first {
            self.run(&mut call.channel()).await?;
        }
        Ok(goes_first)
    }
}

/// Whether the error of an upsert can come from a document of another version that was inserted meanwhile.
fn may_follow(error: &Error, call: &Call<'_>) -> bool {
    let is_in_transaction = call.session.as_ref().is_some_and(|it| it.in_transaction());
    call.request.options.upsert == Some(true) && error.is_duplicate_key() && !is_in_transaction
}

/// Sends an update and counts the documents that it was withheld from.
pub(super) async fn update<M: Document>(mut call: Call<'_>) -> Result<UpdateResult<M::Id>> {
    let model = call.model;
    let (written, withheld) = match Upgrading::of(&call) {
        None => send_update(call)
            .await
            .map_err(|error| refused(error, model))?,
        Some(upgrading) => {
            let mut is_ready = upgrading.begin(&mut call).await?;
            loop {
                let sent = send_update(call.again()).await;
                let is_nothing = matches!(&sent, Ok((written, withheld)) if written.n == 0 && withheld.is_empty());
                match sent.map_err(|error| refused(error, model)) {
                    Ok(_) if is_nothing && !is_ready => {
                        is_ready = !upgrading.run(&mut call.channel()).await?;
                    }
                    Err(error) if may_follow(&error, &call) => {
                        if !upgrading.run(&mut call.channel()).await? {
                            return Err(error);
                        }
                    }
                    sent => break sent?,
                }
            }
        }
    };
    let mut result = UpdateResult::new::<M>(written)?;
    result.withheld = withheld;
    Ok(result)
}

async fn send_update(call: Call<'_>) -> Result<(Written, Vec<Withheld>)> {
    if call.guards.is_none() {
        return Ok((call.send().await?.written()?, Vec::new()));
    }
    let mut guarded = Guarded::new(call)?;
    let many = matches!(&guarded.request.operation, Operation::Update(update) if update.multi);
    if !many {
        return match guarded.run().await? {
            (Changed::Written(written), withheld) => Ok((written, withheld)),
            (Changed::Found(_), _) => Err(Error::malformed_reply("counts")),
        };
    }
    // After the update, a list that it filled looks like one that was full.
    let before = guarded.count().await?;
    if !before.is_empty() && guarded.upserts() {
        // The filter names one document, which is there.
        return Ok((Written::default(), before));
    }
    let request = guarded.request.clone();
    let written = guarded.send(request).await?.written()?;
    Ok((written, before))
}

/// Sends a `find_one_and_update`; it fails if the document is there and a guard withheld the update.
pub(super) async fn find_and_update(mut call: Call<'_>) -> Result<Option<RawDocumentBuf>> {
    let Some(upgrading) = Upgrading::of(&call) else {
        return send_find_and_update(call).await;
    };
    let mut is_ready = upgrading.begin(&mut call).await?;
    loop {
        match send_find_and_update(call.again()).await {
            Ok(None) if !is_ready => is_ready = !upgrading.run(&mut call.channel()).await?,
            Err(error) if may_follow(&error, &call) => {
                if !upgrading.run(&mut call.channel()).await? {
                    return Err(error);
                }
            }
            found => return found,
        }
    }
}

async fn send_find_and_update(call: Call<'_>) -> Result<Option<RawDocumentBuf>> {
    if call.guards.is_none() {
        return call.send().await?.document();
    }
    let model = call.model;
    let result = async {
        match Guarded::new(call)?.run().await? {
            (Changed::Found(found), withheld) if withheld.is_empty() => Ok(found),
            (_, withheld) => Err(Error::new(WithheldError::new(withheld))),
        }
    };
    result.await.map_err(|error| refused(error, model))
}
