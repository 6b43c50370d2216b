//! What the engine may not make up by itself: the time, new ids, and randomness.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use bson::{DateTime, oid::ObjectId};

/// The clock, the ids and the randomness of one call. Nothing in the engine reads them elsewhere, so
/// a test that gives its own sees the same replies every time.
#[derive(Clone)]
pub(crate) struct Context {
    clock: Arc<dyn Fn() -> DateTime + Send + Sync>,
    object_ids: Arc<dyn Fn() -> ObjectId + Send + Sync>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Context {
    /// The machine's clock, fresh ObjectIds, and randomness from the operating system.
    pub(crate) fn system() -> Self {
        Self {
            clock: Arc::new(DateTime::now),
            object_ids: Arc::new(ObjectId::new),
            // Each `RandomState` is seeded from the operating system's entropy.
            random: Arc::new(|| RandomState::new().hash_one(0_u8)),
        }
    }

    /// The same, with another clock.
    #[must_use]
    pub(crate) fn with_clock(
        mut self,
        clock: impl Fn() -> DateTime + Send + Sync + 'static,
    ) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The same, with another source of ObjectIds.
    #[must_use]
    pub(crate) fn with_object_ids(
        mut self,
        object_ids: impl Fn() -> ObjectId + Send + Sync + 'static,
    ) -> Self {
        self.object_ids = Arc::new(object_ids);
        self
    }

    /// The same, with another source of randomness.
    #[must_use]
    pub(crate) fn with_random(mut self, random: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.random = Arc::new(random);
        self
    }

    pub(crate) fn now(&self) -> DateTime {
        (self.clock)()
    }

    pub(crate) fn object_id(&self) -> ObjectId {
        (self.object_ids)()
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
