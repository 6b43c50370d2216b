//! The engine's only entry point.

mod backoff;
mod listener;
#[cfg(test)]
mod tests;

use std::time::Duration;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw;
use odm_language::version::ServerVersion;

pub use self::backoff::Backoff;
pub use self::listener::Listener;
use crate::catalog::Root;
use crate::catalog::changes::{Interest, Signal};
use crate::catalog::namespace::Namespace;
use crate::command::direct::{Answer, Request};
use crate::command::fork::Fork;
use crate::command::generic_arguments::Rules;
use crate::command::state::Engine;
use crate::context::Context;
use crate::cursor::registry::{CursorTraits, Hold};
use crate::txn::session::Mode;

/// How long an awaiting cursor waits for new documents when the client sends no `maxTimeMS`.
pub const AWAIT: Duration = Duration::from_secs(1);

/// An engine and the context that its commands run in. One value acts as one server; sessions and threads share it.
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
        // A request that only reads may still write, because it may run expiry.
        self.answered(self.engine.answer(&self.context, namespace, request))
    }

    /// All collections and views, at this moment.
    pub fn root(&self) -> Root {
        self.engine.catalog.root()
    }

    /// A copy of the engine whose changes become visible together when it is merged.
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

    /// The version of MongoDB that the engine reports.
    pub fn version(&self) -> ServerVersion {
        self.context.version()
    }

    /// Runs the periodic expiry, as commands do from time to time.
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

    /// Advances the cluster time to a client's, unless that is earlier.
    pub fn advance(&self, time: bson::Timestamp) {
        self.engine.catalog.clock.advance(time);
    }

    /// Checks the generic fields of a command that the caller answers itself: session, transaction, concerns, API
    /// version.
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

    /// How many snapshots are kept for `atClusterTime` reads, and how many bytes the log of changes has.
    pub fn retained_sizes(&self) -> [usize; 2] {
        let engine = &self.engine;
        [engine.snapshots.count(), engine.catalog.changes.bytes()]
    }

    /// Keeps an awaiting cursor alive while its caller waits, and returns the changes that it waits for. `None` if the
    /// cursor is closed or in use, or does not await new documents.
    pub fn hold(&self, cursor: i64) -> Option<(Hold<'_>, Interest)> {
        self.engine.cursors.hold(cursor)
    }

    /// What kind of cursor this is; `None` if it does not exist or is in use.
    pub fn cursor(&self, cursor: i64) -> Option<CursorTraits> {
        self.engine.cursors.traits(cursor)
    }

    /// Logs every write from now on, for change streams; returns false if the log was on already.
    pub fn log_changes(&self) -> bool {
        let catalog = &self.engine.catalog;
        self.answered(catalog.log_changes(self.context.now()))
    }

    /// Whether writes that begin now are logged.
    pub fn is_logging_changes(&self) -> bool {
        self.engine.catalog.changes.is_on()
    }

    /// How often the log of changes was begun or written to.
    pub fn changes_seen(&self) -> u64 {
        self.signal().count()
    }

    /// Blocks until a write after `seen` matches `interest`, or until `limit` has passed.
    pub fn wait_for_changes(&self, interest: Interest, seen: u64, limit: Duration) {
        self.signal().wait(interest, seen, limit);
    }

    /// Wakes the tasks that wait for what this call wrote; no lock is held here.
    #[inline]
    fn answered<T>(&self, answer: T) -> T {
        self.signal().wake();
        answer
    }

    fn signal(&self) -> &Signal {
        &self.engine.catalog.changes.signal
    }
}

/// Whether a `getMore` reply has no documents but an open cursor.
pub fn is_empty_batch(reply: &RawDocument) -> bool {
    let Some(RawBsonRef::Document(cursor)) = raw::get(reply, "cursor") else {
        return false;
    };
    let Some(RawBsonRef::Array(batch)) = raw::get(cursor, "nextBatch") else {
        return false;
    };
    raw::values(batch).next().is_none() && raw::get(cursor, "id") != Some(RawBsonRef::Int64(0))
}
