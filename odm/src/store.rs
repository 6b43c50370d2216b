//! One interface to the in-memory engine and to the official driver: operations in, responses out.
//!
//! This module knows no models. The typed layer builds the documents that an operation holds;
//! documents come back as raw bytes.

#[cfg(not(all(feature = "memory", feature = "mongodb")))]
mod absent;
mod batch;
mod call;
mod capability;
mod changes;
mod cursor;
#[cfg(feature = "mongodb")]
mod driver;
#[cfg(feature = "memory")]
mod memory;
mod monitor;
mod names;
pub(crate) mod operation;
pub(crate) mod options;
mod reply;
mod response;
mod session;
#[cfg(feature = "tracing")]
mod trace;
mod turns;
mod watch;

use std::future::ready;
use std::sync::Arc;

use bson::Document;
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
use self::driver::{Driver, DriverChanges, DriverSession, ImplicitCursor, RawBatch, SessionCursor};
pub(crate) use self::memory::Memory;
use self::memory::{MemoryChanges, MemoryCursor, MemoryPage, MemorySession};
pub use self::monitor::CommandEvent;
pub(crate) use self::monitor::Monitor;
use self::monitor::Sent;
pub(crate) use self::names::{CollectionName, CollectionNames};
pub(crate) use self::operation::{Condition, Modification, Operation, Request, Update};
pub(crate) use self::reply::{WriteKind, Written};
pub(crate) use self::response::Response;
pub(crate) use self::session::{Attempt, Outcome};
pub use self::session::{Session, SessionOptions, TransactionOptions};
#[cfg(feature = "tracing")]
pub use self::trace::TracedValues;
pub(crate) use self::turns::{Turn, Turns};
pub(crate) use self::watch::{Scope, Watch};
use crate::error::{Error, Result};

/// The future of an operation's response. Each path boxes a future type of its own: a single type for
/// all would be as large as the largest, and every call would allocate and copy that much.
pub(crate) type Answer<'s> = BoxFuture<'s, Result<Response<'s>>>;

/// A database in one of the stores; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    backend: Backend,
    database: Arc<str>,
    monitor: Monitor,
    names: CollectionNames,
    /// Shared by all handles of the deployment.
    turns: Turns,
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
        }))
    }

    /// The driver's handle of the database.
    #[cfg(feature = "mongodb")]
    pub(crate) fn as_driver(&self) -> Option<&mongodb::Database> {
        match &self.0.backend {
            Backend::Driver(driver) => Some(driver.database()),
            Backend::Memory(_) => None,
        }
    }

    /// The monitor that reports the commands of this handle.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.0.monitor
    }

    /// The names of the collections of this handle.
    pub(crate) fn names(&self) -> &CollectionNames {
        &self.0.names
    }

    /// The same store, with these names of collections.
    pub(crate) fn named(&self, names: CollectionNames) -> Self {
        Self(Arc::new(Inner {
            backend: self.0.backend.clone(),
            database: Arc::clone(&self.0.database),
            monitor: self.0.monitor.clone(),
            names,
            turns: self.0.turns.clone(),
        }))
    }

    /// The same store, whose commands, those of its clones included, are reported there.
    pub(crate) fn watched(&self, monitor: Monitor) -> Self {
        Self(Arc::new(Inner {
            backend: self.0.backend.clone(),
            database: Arc::clone(&self.0.database),
            monitor,
            names: self.0.names.clone(),
            turns: self.0.turns.clone(),
        }))
    }

    /// The same store, for a handle whose operations mostly use this collection.
    pub(crate) fn at(&self, collection: &str) -> Self {
        let backend = match &self.0.backend {
            Backend::Memory(memory) => Backend::Memory(memory.at(collection)),
            Backend::Driver(driver) => Backend::Driver(driver.at(collection)),
        };
        Self(Arc::new(Inner {
            backend,
            database: Arc::clone(&self.0.database),
            monitor: self.0.monitor.clone(),
            names: self.0.names.clone(),
            turns: self.0.turns.clone(),
        }))
    }

    /// The same store, for a handle that another thread may use. Every call updates the handle's reference count, and
    /// threads that update the same counter slow each other down.
    pub(crate) fn apart(&self) -> Self {
        let backend = match &self.0.backend {
            Backend::Memory(memory) => Backend::Memory(memory.apart()),
            Backend::Driver(driver) => Backend::Driver(driver.clone()),
        };
        Self(Arc::new(Inner {
            backend,
            database: Arc::clone(&self.0.database),
            monitor: self.0.monitor.clone(),
            names: self.0.names.clone(),
            turns: self.0.turns.clone(),
        }))
    }

    /// Another database of the same server or engine.
    pub(crate) fn sibling(&self, database: &str) -> Self {
        let backend = match &self.0.backend {
            Backend::Memory(memory) => Backend::Memory(memory.sibling(database)),
            Backend::Driver(driver) => Backend::Driver(driver.sibling(database)),
        };
        Self(Arc::new(Inner {
            backend,
            database: database.into(),
            monitor: self.0.monitor.clone(),
            names: self.0.names.clone(),
            turns: self.0.turns.clone(),
        }))
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
            Backend::Driver(driver) => driver.capability().await,
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
            Backend::Driver(driver) => driver.start_session(options).await,
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
        match session {
            Some(session) => self.exec_in(request, session),
            None => self.answer(request, None),
        }
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
        let command = request.command()?;
        let updates = request.operation.updates();
        let sent = self.0.monitor.begin(&self.0.database, &command);
        let mut response = sent.of(self.clone().dispatch(request, session)).await;
        let reply = response.as_ref().map(|response| response.to_reply(updates));
        let outcome = reply.as_ref().map_err(|error| *error);
        let Inner {
            database, monitor, ..
        } = &*self.0;
        monitor.report(database, &command, outcome, &sent);
        if let Ok(Response::Cursor(cursor)) = &mut response {
            cursor.watch(monitor, database);
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
        command: impl FnOnce() -> Result<Document>,
    ) -> Result<Option<(Document, Sent)>> {
        let monitor = &self.0.monitor;
        if !monitor.is_on() {
            return Ok(None);
        }
        let command = command()?;
        let sent = monitor.begin(&self.0.database, &command);
        Ok(Some((command, sent)))
    }

    /// Runs any command that replies with one document; `ok: 0` is an error.
    pub(crate) async fn run_command(&self, command: Document) -> Result<Document> {
        self.run_command_in(command, None).await
    }

    /// [`run_command`](Self::run_command), in a session if one is given.
    pub(crate) async fn run_command_in(
        &self,
        command: Document,
        session: Option<&mut Session>,
    ) -> Result<Document> {
        let shown = self.shown(|| Ok(command.clone()))?;
        let attempt = session.as_deref().and_then(Session::attempt);
        let answer = async {
            match &self.0.backend {
                Backend::Memory(memory) => memory.run_command(command, session).await,
                Backend::Driver(driver) => driver.run_command(command, session).await,
            }
        };
        let reply = match &shown {
            None => answer.await,
            Some((_, sent)) => sent.of(answer).await,
        };
        if let Some((command, sent)) = shown {
            let outcome = reply.as_ref();
            let Inner {
                database, monitor, ..
            } = &*self.0;
            monitor.report(database, &command, outcome, &sent);
        }
        match attempt {
            Some(attempt) => attempt.note_reply(reply),
            None => reply,
        }
    }

    /// Runs any command that replies with a cursor, and collects all its documents.
    pub(crate) async fn run_cursor(&self, command: Document) -> Result<Vec<Document>> {
        self.run_cursor_in(command, None).await
    }

    /// [`run_cursor`](Self::run_cursor), in a session if one is given.
    pub(crate) async fn run_cursor_in(
        &self,
        command: Document,
        session: Option<&mut Session>,
    ) -> Result<Vec<Document>> {
        let shown = self.shown(|| Ok(command.clone()))?;
        let attempt = session.as_deref().and_then(Session::attempt);
        let answer = async {
            match &self.0.backend {
                Backend::Memory(memory) => memory.run_cursor(command, session).await,
                Backend::Driver(driver) => driver.run_cursor(command, session).await,
            }
        };
        let opened = match &shown {
            None => answer.await,
            Some((_, sent)) => sent.of(answer).await,
        };
        if let Some((command, sent)) = shown {
            let reply = opened
                .as_ref()
                .map(|cursor| cursor::shown_reply(&cursor.reply()));
            let outcome = reply.as_ref().map_err(|error| *error);
            let Inner {
                database, monitor, ..
            } = &*self.0;
            monitor.report(database, &command, outcome, &sent);
        }
        let mut cursor = match attempt {
            None => opened?,
            Some(attempt) => {
                let mut cursor = attempt.note(opened)?;
                cursor.belongs_to(attempt);
                cursor
            }
        };
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
        let shown = self.shown(|| watch.command())?;
        let answer = async {
            match &self.0.backend {
                Backend::Memory(memory) => memory.watch(watch, session).await,
                Backend::Driver(driver) => driver.watch(watch, session).await,
            }
        };
        let opened = match &shown {
            None => answer.await,
            Some((_, sent)) => sent.of(answer).await,
        };
        if let Some((command, sent)) = shown {
            let done = bson::doc! { "ok": 1 };
            let outcome = opened.as_ref().map(|_| &done);
            let Inner {
                database, monitor, ..
            } = &*self.0;
            monitor.report(database, &command, outcome, &sent);
        }
        opened
    }

    /// Drops the whole database.
    pub(crate) async fn drop_database(&self) -> Result<()> {
        match &self.0.backend {
            Backend::Memory(_) => {
                self.run_command(bson::doc! { "dropDatabase": 1 }).await?;
                Ok(())
            }
            Backend::Driver(driver) => driver.drop_database().await,
        }
    }
}
