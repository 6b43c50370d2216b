//! The engine's sources of time, new ids and randomness.

mod hostility;

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bson::raw::RawDocumentBuf;
use bson::{DateTime, oid::ObjectId};
use odm_language::error::ServerError;
use odm_language::shuffle::Shuffle;
use odm_language::version::ServerVersion;

pub use self::hostility::{Fault, Hostility, Target};

/// The clock, the ids and the randomness of the in-memory engine.
///
/// The engine has no other source of these. Give a context to `Db::memory_with` where a test moves the time
/// (`$currentDate`, `$$NOW`, the expiry of TTL indexes) or wants the same ids and samples in every run.
#[derive(Clone)]
pub struct Context {
    clock: Arc<dyn Fn() -> DateTime + Send + Sync>,
    object_ids: Arc<dyn Fn() -> ObjectId + Send + Sync>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    surroundings: Option<Arc<dyn Surroundings>>,
    interrupt: Option<Arc<AtomicBool>>,
    hold: Option<u64>,
    gate: Option<Gate>,
    given: Option<Arc<[RawDocumentBuf]>>,
    hostility: Option<Hostility>,
    version: ServerVersion,
}

/// What a retryable write must pass before it is published.
type Gate = Arc<dyn Fn() -> Result<(), ServerError> + Send + Sync>;

/// Facts that only the server around an engine knows.
pub trait Surroundings: Send + Sync {
    /// The server's address: host and port.
    fn address(&self) -> String;

    /// How long commands on a collection took, so far.
    fn latencies(&self, database: &str, collection: &str) -> Latencies;
}

/// How long the commands on a collection took, by kind.
#[derive(Debug, Default, Clone)]
pub struct Latencies {
    pub reads: Latency,
    pub writes: Latency,
    pub commands: Latency,
    /// Commits and aborts of transactions.
    pub transactions: Latency,
}

/// A number of commands and their total duration.
#[derive(Debug, Default, Clone)]
pub struct Latency {
    pub count: i64,
    pub micros: i64,
    /// Maps the lower bound of each bucket, in microseconds, to the number of commands in it.
    pub histogram: BTreeMap<i64, i64>,
}

impl Context {
    /// The machine's clock, fresh `ObjectId`s, and randomness from the operating system.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(DateTime::now),
            object_ids: Arc::new(ObjectId::new),
            // Each `RandomState` is seeded from the operating system's entropy.
            random: Arc::new(|| RandomState::new().hash_one(0_u8)),
            surroundings: None,
            interrupt: None,
            hold: None,
            gate: None,
            given: None,
            hostility: None,
            version: ServerVersion::default(),
        }
    }

    /// This context with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> DateTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// This context with another source of the `ObjectId`s for documents without an `_id`.
    #[must_use]
    pub fn with_object_ids(
        mut self,
        object_ids: impl Fn() -> ObjectId + Send + Sync + 'static,
    ) -> Self {
        self.object_ids = Arc::new(object_ids);
        self
    }

    /// This context with another source of randomness, for `$sample`, `$sampleRate` and `$rand`, and for the ids of
    /// collections and cursors.
    #[must_use]
    pub fn with_random(mut self, random: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.random = Arc::new(random);
        self
    }

    /// This context for an engine that reports another version of MongoDB, and has what that version adds to 6.0. The book
    /// lists it in *What the engine supports*.
    #[must_use]
    pub fn with_version(mut self, version: ServerVersion) -> Self {
        self.version = version;
        self
    }

    /// The version of MongoDB that the engine reports.
    #[doc(hidden)]
    pub fn version(&self) -> ServerVersion {
        self.version
    }

    /// This context for an engine that does what MongoDB may do and mongod seldom does, for tests.
    #[must_use]
    pub fn with_hostility(mut self, hostility: Hostility) -> Self {
        self.hostility = Some(hostility);
        self
    }

    /// What the engine does to tests, if it does.
    #[doc(hidden)]
    pub fn hostility(&self) -> Option<&Hostility> {
        self.hostility.as_ref()
    }

    /// Whether batches end at random sizes.
    pub(crate) fn splits_batches(&self) -> bool {
        self.hostility.as_ref().is_some_and(Hostility::splits)
    }

    /// How many documents the next batch of a cursor may have, at least `least`; `None` for as many as fit.
    pub(crate) fn batch_size(&self, wanted: Option<u64>, least: u64) -> Option<u64> {
        match &self.hostility {
            Some(hostility) => hostility.batch_size(wanted, least),
            None => wanted,
        }
    }

    /// What shuffles the results whose order MongoDB leaves open.
    pub(crate) fn shuffle(&self) -> Option<Shuffle> {
        self.hostility.as_ref().and_then(Hostility::shuffle)
    }

    /// This context for an engine behind a server.
    #[doc(hidden)]
    #[must_use]
    pub fn within(mut self, surroundings: Arc<dyn Surroundings>) -> Self {
        self.surroundings = Some(surroundings);
        self
    }

    /// This context for commands that end when `interrupt` becomes true.
    #[doc(hidden)]
    #[must_use]
    pub fn interrupted_by(mut self, interrupt: Arc<AtomicBool>) -> Self {
        self.interrupt = Some(interrupt);
        self
    }

    /// This context for commands of a caller that holds a cursor: `hold` is the key of its [`Hold`](crate::Hold).
    #[doc(hidden)]
    #[must_use]
    pub fn holding(mut self, hold: u64) -> Self {
        self.hold = Some(hold);
        self
    }

    /// The key of the held cursor.
    pub(crate) fn hold(&self) -> Option<u64> {
        self.hold
    }

    /// This context for commands whose retryable writes call `gate` before they are published. A write that it refuses
    /// is undone. It is not called for a retry that finds its write done.
    #[doc(hidden)]
    #[must_use]
    pub fn gated(
        mut self,
        gate: impl Fn() -> Result<(), ServerError> + Send + Sync + 'static,
    ) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// Lets a retryable write pass that is about to be published.
    pub(crate) fn pass(&self) -> Result<(), ServerError> {
        self.gate.as_ref().map_or(Ok(()), |gate| gate())
    }

    /// This context for an aggregation that reads these documents instead of a collection.
    #[doc(hidden)]
    #[must_use]
    pub fn with_documents(mut self, documents: Vec<RawDocumentBuf>) -> Self {
        self.given = Some(documents.into());
        self
    }

    /// The documents that an aggregation reads instead of a collection.
    pub(crate) fn input(&self) -> Option<&Arc<[RawDocumentBuf]>> {
        self.given.as_ref()
    }

    /// The flag that ends a command when it becomes true.
    pub(crate) fn interrupt(&self) -> Option<&Arc<AtomicBool>> {
        self.interrupt.as_ref()
    }

    /// The server around the engine, if there is one.
    pub(crate) fn surroundings(&self) -> Option<&dyn Surroundings> {
        self.surroundings.as_deref()
    }

    pub(crate) fn now(&self) -> DateTime {
        (self.clock)()
    }

    pub(crate) fn object_id(&self) -> ObjectId {
        (self.object_ids)()
    }

    /// The source behind [`random`](Self::random).
    pub(crate) fn randomness(&self) -> Arc<dyn Fn() -> u64 + Send + Sync> {
        Arc::clone(&self.random)
    }

    pub(crate) fn random(&self) -> u64 {
        (self.random)()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}
