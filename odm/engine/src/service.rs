//! The one way into the engine.

mod listener;
mod patience;
#[cfg(test)]
mod tests;

use std::time::Duration;

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw;

pub use self::listener::Listener;
pub use self::patience::Patience;
use crate::catalog::Root;
use crate::catalog::changes::{Interest, Signal};
use crate::catalog::namespace::Namespace;
use crate::command::fork::Fork;
use crate::command::general::Rules;
use crate::command::reply::{Page, Written};
use crate::command::request::{Answer, Request};
use crate::command::state::Engine;
use crate::context::Context;
use crate::cursor::open::Hold;
use crate::txn::session::Mode;

/// How long a cursor waits for documents to come where the client does not say it.
pub const AWAIT: Duration = Duration::from_secs(1);

/// An engine and the context that its commands run in: one value is one server, which sessions and threads share.
///
/// Commands are BSON documents, as a driver sends them; the commands that read and write documents are also taken in
/// [parts](Request). After each of them, the service wakes the tasks and threads that wait for what it wrote.
#[derive(Debug)]
pub struct Service {
    engine: Engine,
    context: Context,
}

impl Service {
    /// A service without collections.
    pub fn new(context: Context) -> Self {
        Self {
            engine: Engine::new(),
            context,
        }
    }

    /// The context that commands run in, unless a call names another.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Answers a command that names its database in `$db`; a failure is a reply with `ok: 0`.
    pub fn run(&self, command: &RawDocument) -> RawDocumentBuf {
        self.run_in(&self.context, command)
    }

    /// [`run`](Self::run), in another context.
    pub fn run_in(&self, context: &Context, command: &RawDocument) -> RawDocumentBuf {
        self.answered(self.engine.run(context, command))
    }

    /// [`run`](Self::run), where a failure is an error.
    pub fn try_run(&self, command: &RawDocument) -> Result<RawDocumentBuf, ServerError> {
        self.try_run_in(&self.context, command)
    }

    /// [`try_run`](Self::try_run), in another context.
    pub fn try_run_in(
        &self,
        context: &Context,
        command: &RawDocument,
    ) -> Result<RawDocumentBuf, ServerError> {
        let reply = self.run_in(context, command);
        match ServerError::of_reply(&reply) {
            Some(error) => Err(error),
            None => Ok(reply),
        }
    }

    /// Answers a command in parts, outside of sessions.
    pub fn answer(
        &self,
        namespace: &Namespace,
        request: Request<'_>,
    ) -> Result<Answer, ServerError> {
        self.answered(self.engine.answer(&self.context, namespace, request))
    }

    /// The documents of the filter `{path: value}`, of which only the first may be wanted. `None` where it is not known
    /// at once where they are: then a request must tell.
    pub fn look_up(
        &self,
        namespace: &Namespace,
        path: &str,
        value: &Bson,
        one: bool,
    ) -> Option<Page> {
        // It writes nothing, but what has expired goes.
        self.answered(
            self.engine
                .look_up(&self.context, namespace, path, value, one),
        )
    }

    /// Removes the document of the filter `{path: value}`, if that is an `_id`. `None` where it is not known at once
    /// which document that is: then a request must tell.
    pub fn remove(
        &self,
        namespace: &Namespace,
        path: &str,
        value: &Bson,
    ) -> Result<Option<Written>, ServerError> {
        self.answered(self.engine.remove(&self.context, namespace, path, value))
    }

    /// All collections and views, at this moment.
    pub fn root(&self) -> Root {
        self.engine.catalog.root()
    }

    /// A copy of the engine, whose changes become visible at once.
    pub fn fork(&self) -> Fork<'_> {
        self.engine.fork()
    }

    /// Whether there is a collection or a view of this name.
    pub fn has(&self, namespace: &Namespace) -> bool {
        self.engine.catalog.collection(namespace).is_some() || self.has_view(namespace)
    }

    /// Whether there is a view of this name.
    pub fn has_view(&self, namespace: &Namespace) -> bool {
        self.engine.catalog.view(namespace).is_some()
    }

    /// The time of the engine's clock.
    pub fn now(&self) -> bson::DateTime {
        self.context.now()
    }

    /// Removes what has expired, as every command does now and then.
    pub fn tick(&self) {
        self.engine.tick(self.now().timestamp_millis());
        self.signal().wake();
    }

    /// A random number from 0 to 1.
    pub fn random_fraction(&self) -> f64 {
        let random = u32::try_from(self.context.random() >> 32).unwrap_or_default();
        f64::from(random) / f64::from(u32::MAX)
    }

    /// The cluster time of the last write; before the first, the time of the first call.
    pub fn operation_time(&self) -> bson::Timestamp {
        let clock = &self.engine.catalog.clock;
        match clock.now() {
            bson::Timestamp { time: 0, .. } => clock.tick(self.now()),
            time => time,
        }
    }

    /// Advances the cluster time to that of a client, unless it is past.
    pub fn advance(&self, time: bson::Timestamp) {
        self.engine.catalog.clock.advance(time);
    }

    /// Checks the fields of a command that the caller answers by itself: session, transaction, concerns, API version.
    pub fn admit(&self, rules: Rules, command: &RawDocument) -> Result<Mode, ServerError> {
        self.engine.admit(rules, command, self.now())
    }

    /// The ids of the sessions that are remembered, and when each was used last.
    pub fn sessions(&self) -> Vec<(Vec<u8>, bson::DateTime)> {
        self.engine.sessions.all(self.now())
    }

    /// How many sessions, open transactions and open cursors there are.
    pub fn counts(&self) -> [usize; 3] {
        let (sessions, transactions) = self.engine.sessions.counts();
        [sessions, transactions, self.open_cursors()]
    }

    /// How many cursors are open.
    pub fn open_cursors(&self) -> usize {
        self.engine.cursors.count()
    }

    /// How many cursors a `getMore` is reading.
    pub fn cursors_in_use(&self) -> usize {
        self.engine.cursors.count_in_use()
    }

    /// How many snapshots are kept for reads at their time, and how many bytes of changes.
    pub fn kept(&self) -> [usize; 2] {
        let engine = &self.engine;
        [engine.snapshots.count(), engine.catalog.changes.bytes()]
    }

    /// Keeps a cursor for a caller who waits with it, and returns what it waits for, if it waits for documents to come.
    pub fn hold(&self, cursor: i64) -> Option<(Hold<'_>, Interest)> {
        self.engine.cursors.hold(cursor)
    }

    /// Logs every write from now on, for change streams; returns false if the log was on already.
    pub fn log_changes(&self) -> bool {
        let catalog = &self.engine.catalog;
        self.answered(catalog.log_changes(self.context.now()))
    }

    /// Whether whoever begins to write logs it.
    pub fn logs_changes(&self) -> bool {
        self.engine.catalog.changes.is_on()
    }

    /// How often the log of changes was begun or written to.
    pub fn changes_seen(&self) -> u64 {
        self.signal().count()
    }

    /// Blocks until something of `interest` was written after `seen`, or until the limit is over.
    pub fn wait_for_changes(&self, interest: Interest, seen: u64, limit: Duration) {
        self.signal().wait(interest, seen, limit);
    }

    /// Wakes those who wait for what was written meanwhile; no lock is held here.
    #[inline]
    fn answered<T>(&self, answer: T) -> T {
        self.signal().wake();
        answer
    }

    fn signal(&self) -> &Signal {
        &self.engine.catalog.changes.signal
    }
}

/// Whether a reply has no documents, and its cursor goes on.
pub fn is_empty_batch(reply: &RawDocument) -> bool {
    let Some(RawBsonRef::Document(cursor)) = raw::get(reply, "cursor") else {
        return false;
    };
    let Some(RawBsonRef::Array(batch)) = raw::get(cursor, "nextBatch") else {
        return false;
    };
    raw::values(batch).next().is_none() && raw::get(cursor, "id") != Some(RawBsonRef::Int64(0))
}
