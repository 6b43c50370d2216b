//! One interface to the in-memory engine and to the official driver: operations in, responses out.
//!
//! Of a model, this module knows the name of its collection, and the tag of a variant. The typed layer builds the documents that
//! an operation holds; documents come back as raw bytes.

#[cfg(not(all(feature = "memory", feature = "mongodb")))]
mod absent;
mod batch;
mod call;
mod capability;
mod changes;
mod cursor;
mod deadline;
#[cfg(feature = "mongodb")]
mod driver;
pub(crate) mod limits;
#[cfg(feature = "memory")]
mod memory;
mod misuse;
mod monitor;
mod names;
pub(crate) mod operation;
pub(crate) mod options;
mod part;
mod reply;
mod response;
mod session;
#[cfg(feature = "tracing")]
mod trace;
mod turns;
mod watch;

use std::future::ready;
use std::sync::Arc;

use bson::{Document, RawDocumentBuf};
use futures_core::future::BoxFuture;

#[cfg(not(feature = "mongodb"))]
use self::absent as driver;
#[cfg(not(feature = "memory"))]
use self::absent as memory;
use self::call::Call;
pub use self::capability::Capability;
pub(crate) use self::capability::Transactions;
pub(crate) use self::changes::RawChanges;
pub(crate) use self::cursor::RawCursor;
pub(crate) use self::deadline::{Bounded, Deadline, Deadlines, Timer};
use self::driver::{Driver, DriverChanges, DriverCursor, DriverSession, RawBatch};
pub(crate) use self::memory::Memory;
use self::memory::{MemoryChanges, MemoryCursor, MemoryPage, MemorySession};
pub use self::monitor::CommandEvent;
use self::monitor::Sent;
pub(crate) use self::monitor::{Monitor, Observe, RunCommand};
pub(crate) use self::names::{CollectionName, CollectionNames, Part};
pub(crate) use self::operation::{Condition, Modification, Operation, Request, Update};
pub(crate) use self::reply::{WriteKind, Written};
pub(crate) use self::response::{Answer, Response};
pub(crate) use self::session::{Afterwards, Attempt, Outcome};
pub use self::session::{Session, SessionOptions, TransactionOptions};
#[cfg(feature = "tracing")]
pub use self::trace::TracedValues;
pub(crate) use self::turns::{Turn, Turns};
pub(crate) use self::watch::{Scope, Watch};
use crate::error::{Error, Result};

/// A database in one of the stores; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Store(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    backend: Backend,
    database: Arc<str>,
    monitor: Monitor,
    names: CollectionNames,
    /// Shared by all handles of the deployment.
    turns: Turns,
    deadline: Option<Deadline>,
}

#[derive(Debug, Clone)]
enum Backend {
    Memory(Memory),
    Driver(Driver),
}

impl Store {
    fn new(backend: Backend, database: &str) -> Self {
        Self(Arc::new(Inner {
            backend,
            database: database.into(),
            monitor: Monitor::default(),
            names: CollectionNames::default(),
            turns: Turns::default(),
            deadline: None,
        }))
    }

    /// A new, empty engine in this process.
    #[cfg(feature = "memory")]
    pub(crate) fn memory(database: &str, context: odm_engine::Context) -> Self {
        let memory = Memory::new(context, database);
        Self::new(Backend::Memory(memory), database)
    }

    /// The database that the connection string names.
    #[cfg(feature = "mongodb")]
    pub(crate) async fn connect(uri: &str) -> Result<Self> {
        Ok(Self::of_driver(Driver::connect(uri).await?))
    }

    /// A database of a client that the caller made.
    #[cfg(feature = "mongodb")]
    pub(crate) fn driver(database: mongodb::Database) -> Self {
        Self::of_driver(Driver::new(database))
    }

    #[cfg(feature = "mongodb")]
    fn of_driver(driver: Driver) -> Self {
        let name = driver.database().name().to_owned();
        Self::new(Backend::Driver(driver), &name)
    }

    /// The driver's handle of the database.
    #[cfg(feature = "mongodb")]
    pub(crate) fn as_driver(&self) -> Option<&mongodb::Database> {
        match &self.0.backend {
            Backend::Driver(driver) => Some(driver.database()),
            Backend::Memory(_) => None,
        }
    }

    /// Whether the engine in this process answers.
    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.0.backend, Backend::Memory(_))
    }

    /// The monitor that reports the commands of this handle.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.0.monitor
    }

    /// The names of the collections of this handle.
    pub(crate) fn names(&self) -> &CollectionNames {
        &self.0.names
    }

    /// A copy of the handle with a change.
    fn with(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Inner::clone(&self.0);
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// The same store, with these names of collections.
    pub(crate) fn named(&self, names: CollectionNames) -> Self {
        self.with(|inner| inner.names = names)
    }

    /// The same store, whose commands, those of its clones included, are reported there.
    pub(crate) fn watched(&self, monitor: Monitor) -> Self {
        self.with(|inner| inner.monitor = monitor)
    }

    /// The same store, for calls that must be done before the deadline.
    pub(crate) fn within(&self, deadline: Deadline) -> Self {
        self.with(|inner| inner.deadline = Some(deadline))
    }

    /// The deadline of the handle and of the session, which is also that of the cursors that a call returns.
    fn own_deadline(&self, session: Option<&Session>) -> Option<Deadline> {
        Deadline::earlier(self.0.deadline.clone(), session.and_then(Session::deadline))
    }

    /// The deadlines of a command that is about to be sent.
    fn deadlines(&self, session: Option<&Session>) -> Option<Deadlines> {
        let of_session = session.and_then(Session::deadline);
        Deadlines::of_command(self.0.deadline.clone().into_iter().chain(of_session))
    }

    /// The same store, for a handle whose operations mostly use this collection.
    pub(crate) fn at(&self, collection: &str) -> Self {
        self.with(|inner| match &mut inner.backend {
            Backend::Memory(memory) => *memory = memory.at(collection),
            Backend::Driver(driver) => *driver = driver.at(collection),
        })
    }

    /// The same store, for a handle that another thread may use. Every call updates the handle's reference count, and
    /// threads that update the same counter slow each other down.
    pub(crate) fn apart(&self) -> Self {
        self.with(|inner| {
            if let Backend::Memory(memory) = &mut inner.backend {
                *memory = memory.apart();
            }
        })
    }

    /// Another database of the same server or engine.
    pub(crate) fn sibling(&self, database: &str) -> Self {
        self.with(|inner| {
            inner.database = database.into();
            match &mut inner.backend {
                Backend::Memory(memory) => *memory = memory.sibling(database),
                Backend::Driver(driver) => *driver = driver.sibling(database),
            }
        })
    }

    /// The queues of the tasks that use the deployment.
    pub(crate) fn turns(&self) -> &Turns {
        &self.0.turns
    }

    pub(crate) fn database(&self) -> &str {
        &self.0.database
    }

    /// The in-memory engine, unless the store is a driver.
    pub(crate) fn engine(&self) -> Option<&Memory> {
        match &self.0.backend {
            Backend::Memory(memory) => Some(memory),
            Backend::Driver(_) => None,
        }
    }

    pub(crate) async fn capability(&self) -> Result<Capability> {
        match &self.0.backend {
            Backend::Memory(_) => Ok(Capability::MEMORY),
            Backend::Driver(driver) => match self.own_deadline(None) {
                None => driver.capability().await,
                Some(deadline) => Bounded::new(driver.capability(), deadline).await?,
            },
        }
    }

    /// The transactions of the deployment, if it has them. It is asked once for each client.
    pub(crate) async fn transactions(&self) -> Option<Transactions> {
        match &self.0.backend {
            Backend::Memory(_) => Some(Transactions { is_sharded: false }),
            Backend::Driver(driver) => driver.transactions().await,
        }
    }

    pub(crate) async fn start_session(&self, options: SessionOptions) -> Result<Session> {
        options.check()?;
        match &self.0.backend {
            Backend::Memory(memory) => memory.session(options),
            Backend::Driver(driver) => match self.own_deadline(None) {
                None => driver.start_session(options).await,
                Some(deadline) => Bounded::new(driver.start_session(options), deadline).await?,
            },
        }
    }

    /// Runs one operation. A write that fails, wholly or in part, is an error.
    #[inline]
    pub(crate) fn exec(self, request: Request, session: Option<&mut Session>) -> Answer<'_> {
        if let Some(options) = request.options.chosen()
            && let Err(error) = options.check()
        {
            return Box::pin(ready(Err(error)));
        }
        if let Some(part) = request.collection.part() {
            let part = Arc::clone(part);
            return self.exec_on_part(part, request, session);
        }
        match self.deadlines(session.as_deref()) {
            Some(deadlines) => self.exec_within(deadlines, request, session),
            None => self.exec_whole(request, session),
        }
    }

    /// Runs one operation on a whole collection, until the deadline.
    fn exec_within(
        self,
        deadlines: Deadlines,
        mut request: Request,
        session: Option<&mut Session>,
    ) -> Answer<'_> {
        let left = match deadlines.max_time() {
            Ok(left) => left,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        if request.operation.has_time_limit() && !request.options.tails {
            let own = request.options.max_time;
            request.options.max_time = own.into_iter().chain(left).min();
        }
        let name = format!("{} on {}", request.operation.verb(), request.collection);
        let own = self.own_deadline(session.as_deref());
        let answer = self.exec_whole(request, session);
        Box::pin(async move {
            let mut response = deadlines.watch(name, answer).await?;
            if let (Response::Cursor(cursor), Some(own)) = (&mut response, own) {
                cursor.within(own);
            }
            Ok(response)
        })
    }

    /// Runs one operation on a whole collection.
    #[inline]
    fn exec_whole(self, request: Request, session: Option<&mut Session>) -> Answer<'_> {
        match session {
            Some(session) => self.exec_in(request, session),
            None => self.answer(request, None),
        }
    }

    /// Runs one operation on a part of a collection.
    fn exec_on_part(
        self,
        part: Arc<Part>,
        request: Request,
        session: Option<&mut Session>,
    ) -> Answer<'_> {
        let is_find = matches!(request.operation, Operation::Find { .. });
        let request = match request.on_whole() {
            Ok(request) => request,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let answer = self.exec(request, session);
        Box::pin(async move {
            Ok(match answer.await? {
                Response::Cursor(mut cursor) if is_find => {
                    cursor.of_part(part);
                    Response::Cursor(cursor)
                }
                Response::Document(Some(document)) => {
                    let mut without = RawDocumentBuf::new();
                    part.untag(&document, &mut without)?;
                    Response::Document(Some(without))
                }
                response => response,
            })
        })
    }

    /// Runs one operation in a session, and records the outcome for the session's transaction.
    fn exec_in(self, request: Request, session: &mut Session) -> Answer<'_> {
        let Some(attempt) = session.attempt() else {
            return self.answer(request, Some(session));
        };
        let answer = self.answer(request, Some(session));
        Box::pin(async move {
            let mut response = attempt.note(answer.await);
            if let Ok(Response::Cursor(cursor)) = &mut response {
                cursor.belongs_to(attempt);
            }
            response
        })
    }

    #[inline]
    fn answer(self, request: Request, session: Option<&mut Session>) -> Answer<'_> {
        if self.0.monitor.is_on() {
            return Box::pin(self.exec_watched(request, session));
        }
        self.dispatch(request, session)
    }

    async fn exec_watched(
        self,
        request: Request,
        session: Option<&mut Session>,
    ) -> Result<Response<'_>> {
        let in_transaction = is_in_transaction(session.as_deref());
        let shown = self.shown(in_transaction, || request.command())?;
        let updates = request.operation.updates();
        let answer = self.clone().dispatch(request, session);
        let reply = |response: &Response<'_>| response.to_reply(updates);
        let mut response = self.monitored(shown, answer, reply).await;
        if let Ok(Response::Cursor(cursor)) = &mut response {
            cursor.watch(&self.0.monitor, &self.0.database, in_transaction);
        }
        response
    }

    fn dispatch(self, request: Request, session: Option<&mut Session>) -> Answer<'_> {
        match &self.0.backend {
            Backend::Memory(_) => Box::pin(Call::new(self, request, session)),
            Backend::Driver(driver) => driver.exec(request, session),
        }
    }

    /// The command that is about to be sent, if it is monitored.
    fn shown(
        &self,
        in_transaction: bool,
        command: impl FnOnce() -> Result<Document>,
    ) -> Result<Option<(Document, Sent)>> {
        let monitor = &self.0.monitor;
        if !monitor.is_on() {
            return Ok(None);
        }
        let command = command()?;
        let sent = monitor.begin(&self.0.database, &command, in_transaction);
        Ok(Some((command, sent)))
    }

    /// Waits for the answer to a command, and reports both if the command is monitored. `reply` shows the answer.
    async fn monitored<T>(
        &self,
        shown: Option<(Document, Sent)>,
        answer: impl Future<Output = Result<T>>,
        reply: impl FnOnce(&T) -> Document,
    ) -> Result<T> {
        let Some((command, sent)) = shown else {
            return answer.await;
        };
        let answer = sent.of(answer).await;
        let reply = answer.as_ref().map(reply);
        let outcome = reply.as_ref().map_err(|error| *error);
        self.0
            .monitor
            .report(&self.0.database, &command, outcome, &sent);
        if let (Some(observer), Some(number), Ok(_)) =
            (self.0.monitor.observer(), sent.number, &answer)
        {
            let run = |command| -> BoxFuture<'_, _> { Box::pin(self.execute(command, None)) };
            observer.executed(number, &run).await;
        }
        answer
    }

    /// Runs any command that replies with one document; `ok: 0` is an error.
    pub(crate) async fn run_command(&self, command: Document) -> Result<Document> {
        self.run_command_in(command, None).await
    }

    /// [`run_command`](Self::run_command), in a session if one is given.
    pub(crate) async fn run_command_in(
        &self,
        mut command: Document,
        session: Option<&mut Session>,
    ) -> Result<Document> {
        let limit = limit(self.deadlines(session.as_deref()), &mut command)?;
        let shown = self.shown(
            is_in_transaction(session.as_deref()),
            || Ok(command.clone()),
        )?;
        let attempt = session.as_deref().and_then(Session::attempt);
        let answer = self.execute(command, session);
        let answer = self.monitored(shown, answer, Document::clone);
        let reply = match limit {
            None => answer.await,
            // Boxed, because most calls have no deadline.
            Some((deadlines, name)) => Box::pin(deadlines.watch(name, answer)).await,
        };
        match attempt {
            Some(attempt) => attempt.note_reply(reply),
            None => reply,
        }
    }

    /// Runs a command without reporting it.
    async fn execute(&self, command: Document, session: Option<&mut Session>) -> Result<Document> {
        match &self.0.backend {
            Backend::Memory(memory) => memory.run_command(command, session).await,
            Backend::Driver(driver) => driver.run_command(command, session).await,
        }
    }

    /// Runs any command that replies with a cursor, and collects all its documents.
    pub(crate) async fn run_cursor(&self, command: Document) -> Result<Vec<Document>> {
        self.run_cursor_in(command, None).await
    }

    /// [`run_cursor`](Self::run_cursor), in a session if one is given.
    pub(crate) async fn run_cursor_in(
        &self,
        mut command: Document,
        session: Option<&mut Session>,
    ) -> Result<Vec<Document>> {
        let limit = limit(self.deadlines(session.as_deref()), &mut command)?;
        let shown = self.shown(
            is_in_transaction(session.as_deref()),
            || Ok(command.clone()),
        )?;
        let attempt = session.as_deref().and_then(Session::attempt);
        let answer = async {
            match &self.0.backend {
                Backend::Memory(memory) => memory.run_cursor(command, session).await,
                Backend::Driver(driver) => driver.run_cursor(command, session).await,
            }
        };
        let answer = self.monitored(shown, answer, |cursor: &RawCursor<'_>| {
            cursor::shown_reply(&cursor.reply())
        });
        let (opened, deadline) = match limit {
            None => (answer.await, None),
            Some((deadlines, name)) => {
                let earliest = deadlines.earliest();
                let opened = Box::pin(deadlines.watch(name, answer)).await;
                (opened, Some(earliest))
            }
        };
        let mut cursor = match attempt {
            None => opened?,
            Some(attempt) => {
                let mut cursor = attempt.note(opened)?;
                cursor.belongs_to(attempt);
                cursor
            }
        };
        if let Some(deadline) = deadline {
            cursor.within(deadline);
        }
        let mut documents = Vec::new();
        while let Some(document) = cursor.next().await {
            documents.push(
                Document::try_from(document?)
                    .map_err(|_| Error::malformed_reply("well-formed BSON"))?,
            );
        }
        Ok(documents)
    }

    /// Opens a change stream.
    pub(crate) async fn watch(
        self,
        watch: Watch,
        session: Option<&mut Session>,
    ) -> Result<RawChanges<'_>> {
        if let Some(options) = watch.options.chosen() {
            options.check()?;
        }
        if let Scope::Collection(name) = &watch.scope
            && let Some(part) = name.part()
        {
            return Err(Error::unsupported(format!(
                "an event about a deleted document does not say which variant it was: watch the collection of `{}`, and match \
                 on what its events hold",
                part.whole
            )));
        }
        let own = self.own_deadline(session.as_deref());
        let deadlines = self.deadlines(session.as_deref());
        if let Some(deadlines) = &deadlines {
            deadlines.check()?;
        }
        let shown = self.shown(false, || watch.command())?;
        let answer = async {
            match &self.0.backend {
                Backend::Memory(memory) => memory.watch(watch, session).await,
                Backend::Driver(driver) => driver.watch(watch, session).await,
            }
        };
        let done = bson::doc! { "ok": 1 };
        let answer = self.monitored(shown, answer, |_| done);
        let mut changes = match deadlines {
            None => answer.await?,
            Some(deadlines) => {
                let name = "aggregate with $changeStream".to_owned();
                Box::pin(deadlines.watch(name, answer)).await?
            }
        };
        if let Some(own) = own {
            changes.within(own);
        }
        Ok(changes)
    }

    /// Drops the whole database.
    pub(crate) async fn drop_database(&self) -> Result<()> {
        match &self.0.backend {
            Backend::Memory(_) => {
                self.run_command(bson::doc! { "dropDatabase": 1 }).await?;
                Ok(())
            }
            Backend::Driver(driver) => match self.deadlines(None) {
                None => driver.drop_database().await,
                Some(deadlines) => {
                    deadlines.check()?;
                    let name = "dropDatabase".to_owned();
                    Box::pin(deadlines.watch(name, driver.drop_database())).await
                }
            },
        }
    }
}

/// Adds the time that is left to a command as its `maxTimeMS`. Returns the deadlines with the command's name.
fn limit(
    deadlines: Option<Deadlines>,
    command: &mut Document,
) -> Result<Option<(Deadlines, String)>> {
    let Some(deadlines) = deadlines else {
        return Ok(None);
    };
    let left = deadlines.max_time()?;
    let name = command.keys().next().cloned().unwrap_or_default();
    // A `getMore` takes one only from a tailable cursor.
    if let Some(left) = left
        && name != "getMore"
        && !command.contains_key("maxTimeMS")
    {
        command.insert("maxTimeMS", options::millis(left));
    }
    Ok(Some((deadlines, name)))
}

fn is_in_transaction(session: Option<&Session>) -> bool {
    session.is_some_and(Session::in_transaction)
}
