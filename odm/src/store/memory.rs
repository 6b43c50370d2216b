//! The store in the process: requests and commands go to the engine, answers come back.

mod await_data;
mod limits;
mod listener;
mod parts;
mod patience;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};

#[cfg(feature = "server")]
pub(crate) use self::await_data::{AWAIT, is_empty};
pub(crate) use self::listener::Listener;
use self::parts::{Outcome, Parts};
pub(crate) use self::patience::Patience;
use crate::engine::{self, Answer, Context, Engine, Hold, Interest, Namespace, Page, Signal};
use crate::error::{Code, Error, Result, ServerError};
use crate::store::batch::{Batch, Reply};
use crate::store::changes::{RawChanges, Source as Events};
use crate::store::cursor::{RawCursor, Source};
use crate::store::memory_changes::MemoryChanges;
use crate::store::memory_cursor::MemoryCursor;
use crate::store::operation::{Condition, Operation, Request};
use crate::store::options::{Acknowledgment, Options, WriteConcern};
use crate::store::response::{self, Response, WriteKind, count, field};
use crate::store::session::Session;
use crate::store::watch::{Scope, Watch};

/// The engine and the context that its commands run in; clones share the data.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    /// The database that operations go to.
    database: Arc<str>,
    /// The collection that most operations go to, so that its name is not made anew for each.
    target: Option<Namespace>,
}

struct Shared {
    engine: Engine,
    context: Context,
}

impl Memory {
    pub(crate) fn new(context: Context, database: &str) -> Self {
        let engine = Engine::new();
        Self(Arc::new(Handle {
            shared: Arc::new(Shared { engine, context }),
            database: database.into(),
            target: None,
        }))
    }

    /// The same data, for a handle that mostly asks for this collection.
    pub(crate) fn at(&self, collection: &str) -> Self {
        let database = &self.0.database;
        Self(Arc::new(Handle {
            shared: Arc::clone(&self.0.shared),
            database: Arc::clone(database),
            target: Some(Namespace::new(database, collection)),
        }))
    }

    /// Another handle of the same engine and names. Each of the two counts its own users and those of its target.
    pub(crate) fn apart(&self) -> Self {
        let copy = |target: &Namespace| Namespace::new(&target.database, &target.collection);
        Self(Arc::new(Handle {
            shared: Arc::clone(&self.0.shared),
            database: Arc::clone(&self.0.database),
            target: self.0.target.as_ref().map(copy),
        }))
    }

    /// Another database of the same engine.
    pub(crate) fn sibling(&self, database: &str) -> Self {
        Self(Arc::new(Handle {
            shared: Arc::clone(&self.0.shared),
            database: database.into(),
            target: None,
        }))
    }

    /// Whether both hold the same data.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.shared, &other.0.shared)
    }

    /// Runs a command once; a reply with `ok: 0` is an error.
    pub(crate) fn run(
        &self,
        database: &str,
        mut command: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        command.append(cstr!("$db"), database);
        Ok(self.reply(&command)?)
    }

    /// All that is in the engine, at this moment.
    pub(crate) fn root(&self) -> engine::Root {
        self.0.shared.engine.catalog.root()
    }

    /// A copy of the engine, for what is to become visible at once.
    pub(crate) fn fork(&self) -> engine::Fork<'_> {
        self.0.shared.engine.fork()
    }

    /// The engine's clock.
    #[cfg(feature = "server")]
    pub(crate) fn now(&self) -> bson::DateTime {
        self.0.shared.context.now()
    }

    /// What has expired goes, as with any command.
    #[cfg(feature = "server")]
    pub(crate) fn tick(&self) {
        let engine = &self.0.shared.engine;
        engine.tick(self.now().timestamp_millis());
        self.signal().wake();
    }

    /// How many cursors are open.
    #[cfg(any(feature = "server", test))]
    pub(crate) fn open_cursors(&self) -> usize {
        self.0.shared.engine.cursors.count()
    }

    /// A random number from 0 to 1.
    #[cfg(feature = "server")]
    pub(crate) fn random_fraction(&self) -> f64 {
        let random = u32::try_from(self.0.shared.context.random() >> 32).unwrap_or_default();
        f64::from(random) / f64::from(u32::MAX)
    }

    /// The time of the last write, or of the first question.
    #[cfg(feature = "server")]
    pub(crate) fn operation_time(&self) -> bson::Timestamp {
        let clock = &self.0.shared.engine.catalog.clock;
        match clock.now() {
            bson::Timestamp { time: 0, .. } => clock.tick(self.now()),
            time => time,
        }
    }

    /// Goes on to a time that a client has from elsewhere, unless it is past.
    #[cfg(feature = "server")]
    pub(crate) fn advance(&self, told: bson::Timestamp) {
        self.0.shared.engine.catalog.clock.advance(told);
    }

    /// The ids of the sessions that are remembered, and when each was used last.
    #[cfg(feature = "server")]
    pub(crate) fn sessions(&self) -> Vec<(Vec<u8>, bson::DateTime)> {
        self.0.shared.engine.sessions.all(self.now())
    }

    /// Refuses what may not be said to a command that somebody else answers.
    #[cfg(feature = "server")]
    pub(crate) fn admit(
        &self,
        rules: engine::command::general::Rules,
        command: &RawDocument,
    ) -> Result<engine::txn::session::Mode, ServerError> {
        self.0.shared.engine.admit(rules, command, self.now())
    }

    /// How many cursors somebody reads from.
    #[cfg(any(feature = "server", test))]
    pub(crate) fn cursors_in_use(&self) -> usize {
        self.0.shared.engine.cursors.count_in_use()
    }

    /// How many sessions, open transactions and open cursors there are.
    #[cfg(feature = "server")]
    pub(crate) fn counts(&self) -> [usize; 3] {
        let engine = &self.0.shared.engine;
        let (sessions, transactions) = engine.sessions.counts();
        [sessions, transactions, engine.cursors.count()]
    }

    /// How many moments are kept for reads of them, and how many bytes of changes.
    #[cfg(all(test, feature = "server"))]
    pub(crate) fn kept(&self) -> [usize; 2] {
        let engine = &self.0.shared.engine;
        [engine.snapshots.count(), engine.catalog.changes.bytes()]
    }

    /// What the engine answered, once those are woken who wait for what it may have written.
    #[inline]
    fn answered<T>(&self, answer: T) -> T {
        self.signal().wake();
        answer
    }

    fn signal(&self) -> &Signal {
        &self.0.shared.engine.catalog.changes.signal
    }

    /// From now on, all that is written is logged for change streams. False if it was so before.
    pub(crate) fn log_changes(&self) -> bool {
        let catalog = &self.0.shared.engine.catalog;
        self.answered(catalog.log_changes(self.0.shared.context.now()))
    }

    /// How often the log of changes was begun or written to.
    pub(crate) fn changes_seen(&self) -> u64 {
        self.signal().count()
    }

    /// Blocks until what is waited for was written to since then, or the time is up.
    #[cfg(feature = "server")]
    pub(crate) fn wait_for_changes(&self, interest: Interest, seen: u64, limit: Duration) {
        self.signal().wait(interest, seen, limit);
    }

    /// Keeps a cursor for one who waits with it, and tells what for, if it waits for documents to come.
    pub(crate) fn hold(&self, cursor: i64) -> Option<(Hold<'_>, Interest)> {
        self.0.shared.engine.cursors.hold(cursor)
    }

    /// Answers a command that names its database, once; a failure is a reply, too.
    #[cfg(feature = "server")]
    pub(crate) fn answer(&self, context: &Context, command: &RawDocument) -> RawDocumentBuf {
        self.answered(self.0.shared.engine.run(context, command))
    }

    /// What the engine's commands run in.
    pub(crate) fn context(&self) -> Context {
        self.0.shared.context.clone()
    }

    /// Whether there is a view of this name.
    #[cfg(feature = "server")]
    pub(crate) fn has_view(&self, database: &str, name: &str) -> bool {
        let namespace = Namespace::new(database, name);
        self.0.shared.engine.catalog.view(&namespace).is_some()
    }

    /// Whether there is a collection or a view of this name.
    #[cfg(feature = "server")]
    pub(crate) fn has(&self, database: &str, collection: &str) -> bool {
        let catalog = &self.0.shared.engine.catalog;
        let namespace = Namespace::new(database, collection);
        catalog.collection(&namespace).is_some() || catalog.view(&namespace).is_some()
    }

    /// The same, where a failure is an error.
    #[cfg(feature = "server")]
    pub(crate) fn checked(&self, command: &RawDocument) -> Result<RawDocumentBuf, ServerError> {
        self.reply(command)
    }

    fn reply(&self, command: &RawDocument) -> Result<RawDocumentBuf, ServerError> {
        self.reply_in(&self.0.shared.context, command)
    }

    fn reply_in(
        &self,
        context: &Context,
        command: &RawDocument,
    ) -> Result<RawDocumentBuf, ServerError> {
        let reply = self.answered(self.0.shared.engine.run(context, command));
        match response::command_error(&reply) {
            Some(error) => Err(error),
            None => Ok(reply),
        }
    }

    /// Has a request answered once, without a command.
    pub(crate) fn ask(
        &self,
        database: &str,
        collection: &str,
        request: engine::Request<'_>,
    ) -> Result<Answer, ServerError> {
        let shared = &*self.0.shared;
        let namespace = self.namespace(database, collection);
        self.answered(shared.engine.answer(&shared.context, &namespace, request))
    }

    /// The documents of a request that finds one value at one path, where that is all there is to do.
    fn look_up(&self, database: &str, request: &Request) -> Option<Page> {
        let Operation::Find {
            filter: Condition::One(path, value),
            one,
        } = &request.operation
        else {
            return None;
        };
        if !limits::is_roomy(value) {
            return None;
        }
        let shared = &*self.0.shared;
        let namespace = self.namespace(database, request.collection);
        // It writes nothing, but what has expired goes.
        self.answered(
            shared
                .engine
                .look_up(&shared.context, &namespace, path, value, *one),
        )
    }

    /// Removes the document of a filter that finds one by its `_id`, where that is all there is to do.
    fn remove(
        &self,
        database: &str,
        collection: &str,
        filter: &Condition,
    ) -> Result<Option<engine::Written>, ServerError> {
        let Condition::One(path, value) = filter else {
            return Ok(None);
        };
        if !limits::is_roomy(value) {
            return Ok(None);
        }
        let shared = &*self.0.shared;
        let namespace = self.namespace(database, collection);
        self.answered(
            shared
                .engine
                .remove(&shared.context, &namespace, path, value),
        )
    }

    fn namespace(&self, database: &str, collection: &str) -> Cow<'_, Namespace> {
        match &self.0.target {
            Some(target) if target.is(database, collection) => Cow::Borrowed(target),
            _ => Cow::Owned(Namespace::new(database, collection)),
        }
    }

    /// Runs a command outside of transactions. While an open transaction holds what it writes, it
    /// waits, as on a server.
    pub(crate) async fn run_waiting(
        &self,
        database: &str,
        mut command: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        command.append(cstr!("$db"), database);
        let limit = engine::max_time(&command);
        waiting(limit, || self.reply(&command)).await
    }

    /// Runs a command in a session, or in none.
    pub(crate) async fn run_in(
        &self,
        database: &str,
        mut command: RawDocumentBuf,
        session: Option<&mut Session>,
    ) -> Result<RawDocumentBuf> {
        let Some(session) = session else {
            return self.run_waiting(database, command).await;
        };
        let session = session.memory()?;
        if !session.memory.is_same(self) {
            return Err(Session::foreign());
        }
        session.decorate(&mut command);
        if session.in_transaction() {
            self.run(database, command)
        } else {
            self.run_waiting(database, command).await
        }
    }

    /// Runs a command that answers a cursor.
    pub(crate) async fn run_cursor<'s>(
        &self,
        database: &Arc<str>,
        command: &Document,
        mut session: Option<&'s mut Session>,
    ) -> Result<RawCursor<'s>> {
        let raw = RawDocumentBuf::try_from(command).map_err(Error::encode)?;
        limits::check_command(&raw)?;
        let reply = self.run_in(database, raw, session.as_deref_mut()).await?;
        self.open_cursor(database, reply, None, session)
    }

    fn open_cursor<'s>(
        &self,
        database: &Arc<str>,
        reply: RawDocumentBuf,
        batch_size: Option<u32>,
        session: Option<&'s mut Session>,
    ) -> Result<RawCursor<'s>> {
        let mut fields = None;
        if let Some(session) = session {
            let fields = fields.insert(RawDocumentBuf::new());
            session.memory()?.append_fields(fields);
        }
        let batch = Batch::new(Reply::Memory(reply))?;
        Ok(self.cursor(database, batch, batch_size, fields))
    }

    fn cursor<'s>(
        &self,
        database: &Arc<str>,
        first: Batch,
        batch_size: Option<u32>,
        session: Option<RawDocumentBuf>,
    ) -> RawCursor<'s> {
        let source = if first.cursor_id == 0 {
            Source::Exhausted(PhantomData)
        } else {
            Source::Memory(Box::new(MemoryCursor::new(
                self.clone(),
                Arc::clone(database),
                &first,
                batch_size,
                session,
            )))
        };
        RawCursor::new(first, source, batch_size)
    }

    /// Opens a change stream.
    pub(crate) async fn watch<'s>(
        &self,
        watch: Watch,
        session: Option<&'s mut Session>,
    ) -> Result<RawChanges<'s>> {
        check(&watch.options)?;
        let database = match watch.scope {
            Scope::Cluster => "admin".into(),
            Scope::Collection(_) | Scope::Database => Arc::clone(&self.0.database),
        };
        let changes = MemoryChanges::open(self, &database, watch, session).await?;
        let start = changes.start();
        Ok(RawChanges::new(Events::Memory(Box::new(changes)), start))
    }

    /// Runs one operation without a session and without options, in parts. `None` where a command must tell more, or where
    /// an open transaction has to be waited for: then nothing was done.
    pub(crate) fn exec_now<'s>(&self, request: &Request) -> Option<Result<Response<'s>>> {
        if !request.options.is_empty() {
            return None;
        }
        let database = &self.0.database;
        if let Some(page) = self.look_up(database, request) {
            let batch = Batch::of_page(page, cstr!("firstBatch"));
            let cursor = self.cursor(database, batch, None, None);
            return Some(Ok(Response::Cursor(cursor)));
        }
        if let Operation::Delete { filter, .. } = &request.operation {
            match self.remove(database, request.collection, filter) {
                Ok(None) => {}
                Err(error) if error.code() == Code::WRITE_CONFLICT => return None,
                Err(error) => return Some(Err(error.into())),
                Ok(Some(removed)) => {
                    let written = parts::written(removed, WriteKind::Delete, false);
                    return Some(written.map(Response::Written));
                }
            }
        }
        let parts = match Parts::of(request) {
            Ok(parts) => parts.filter(|parts| !parts.is_large())?,
            Err(error) => return Some(Err(error)),
        };
        match self.ask(database, request.collection, parts.request()) {
            Err(error) if error.code() == Code::WRITE_CONFLICT => None,
            Err(error) => Some(Err(error.into())),
            Ok(answer) => Some(self.respond(&parts, answer, request)),
        }
    }

    /// What the answer to a request in parts is.
    fn respond<'s>(
        &self,
        parts: &Parts<'_>,
        answer: Answer,
        request: &Request,
    ) -> Result<Response<'s>> {
        Ok(match parts.outcome(answer, request.operation.is_batch())? {
            Outcome::Written(written) => Response::Written(written),
            Outcome::Batch(batch) => {
                Response::Cursor(self.cursor(&self.0.database, batch, None, None))
            }
        })
    }

    /// Runs one operation: in parts where it has no options and no session, else as its command. While an open
    /// transaction holds what it writes, it waits.
    pub(crate) async fn exec<'s>(
        &self,
        request: &Request,
        session: Option<&'s mut Session>,
    ) -> Result<Response<'s>> {
        let database = &self.0.database;
        if session.is_none()
            && request.options.is_empty()
            && let Some(parts) = Parts::of(request)?
            && !parts.is_large()
        {
            let ask = || self.ask(database, request.collection, parts.request());
            let answer = waiting(None, ask).await?;
            return self.respond(&parts, answer, request);
        }
        self.exec_command(database, request, session).await
    }

    async fn exec_command<'s>(
        &self,
        database: &Arc<str>,
        request: &Request,
        mut session: Option<&'s mut Session>,
    ) -> Result<Response<'s>> {
        check(&request.options)?;
        let command = request.raw_command()?;
        limits::check(&request.operation, &command)?;
        let batch = request.operation.is_batch();
        if matches!(
            request.operation,
            Operation::Find { .. } | Operation::Aggregate { .. }
        ) {
            let reply = self
                .run_in(database, command, session.as_deref_mut())
                .await?;
            let size = request.options.batch_size;
            return Ok(Response::Cursor(
                self.open_cursor(database, reply, size, session)?,
            ));
        }
        if let Operation::Count { .. } = request.operation {
            // One document at most: nothing to fetch later.
            let reply = self.run_in(database, command, session).await?;
            let mut batch = Batch::new(Reply::Memory(reply))?;
            let counted = match batch.next() {
                Some(group) => count(group?, "n")?,
                None => 0,
            };
            return Ok(Response::Count(counted));
        }
        let reply = match self.run_in(database, command, session).await {
            Err(error)
                if matches!(request.operation, Operation::Drop)
                    && error.code() == Some(Code::NAMESPACE_NOT_FOUND) =>
            {
                return Ok(Response::Done);
            }
            reply => reply?,
        };
        Ok(match request.operation {
            Operation::InsertOne { .. } | Operation::InsertMany { .. } => {
                Response::Written(response::written(&reply, WriteKind::Insert, batch)?)
            }
            Operation::Update(_) | Operation::Replace { .. } | Operation::Updates { .. } => {
                Response::Written(response::written(&reply, WriteKind::Update, batch)?)
            }
            Operation::Delete { .. } | Operation::Deletes { .. } => {
                Response::Written(response::written(&reply, WriteKind::Delete, batch)?)
            }
            Operation::FindAndUpdate(_)
            | Operation::FindAndReplace { .. }
            | Operation::FindAndDelete { .. } => Response::Document(value(&reply)?),
            Operation::EstimatedCount => Response::Count(count(&reply, "n")?),
            Operation::Distinct { .. } => Response::Values(response::values(&reply)?),
            Operation::Drop => Response::Done,
            Operation::Find { .. } | Operation::Aggregate { .. } | Operation::Count { .. } => {
                return Err(Error::malformed_reply("a cursor"));
            }
        })
    }
}

/// Runs until no uncommitted write of a transaction stands in the way.
async fn waiting<T>(
    limit: Option<Duration>,
    mut run: impl FnMut() -> Result<T, ServerError>,
) -> Result<T> {
    let mut patience = Patience::new(limit);
    loop {
        match run() {
            Err(error) if error.code() == Code::WRITE_CONFLICT => {
                tokio::time::sleep(patience.pause(error)?).await;
            }
            answer => return Ok(answer?),
        }
    }
}

/// Refuses what a single node in the process can't honour.
fn check(options: &Options) -> Result<()> {
    if let Some(preference) = &options.read_preference {
        preference.check_on_one_node()?;
    }
    options
        .write_concern
        .as_ref()
        .map_or(Ok(()), check_write_concern)
}

/// Refuses a write concern that a single node in the process can't honour.
pub(crate) fn check_write_concern(concern: &WriteConcern) -> Result<()> {
    match &concern.w {
        Some(Acknowledgment::Nodes(2..)) => Err(Error::unsupported(
            "the in-memory store is a single node: a write can't be acknowledged by more than one",
        )),
        Some(Acknowledgment::Custom(name)) => Err(Error::unsupported(format!(
            "the in-memory store has no write concern named `{name}`"
        ))),
        _ => Ok(()),
    }
}

fn value(reply: &RawDocument) -> Result<Option<RawDocumentBuf>> {
    match field(reply, "value") {
        Some(RawBsonRef::Document(document)) => Ok(Some(document.to_owned())),
        Some(RawBsonRef::Null) | None => Ok(None),
        Some(_) => Err(Error::malformed_reply("a document as `value`")),
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}
