//! How often an index was used, and since when uses are counted.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use bson::DateTime;

/// The number of thread groups, each with a counter of its own.
const GROUPS: usize = 8;

/// The group that the next thread joins.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static GROUP: usize = NEXT.fetch_add(1, Ordering::Relaxed) % GROUPS;
}

/// A counter on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Count(AtomicI64);

/// The uses of one index. All versions of a collection share them; a changed specification starts at zero, as on
/// mongod.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Uses by commands that may run concurrently: one counter for each group of threads. With a single counter, every
    /// read would wait for its cache line to arrive from another processor.
    shared: [Count; GROUPS],
    /// Uses by commands that hold the collection's writer lock, which count without an atomic read-modify-write.
    alone: AtomicI64,
    /// The start of counting, in milliseconds since the epoch; 0 if unknown.
    since: AtomicI64,
}

impl Uses {
    /// Counts one use: a command's plan that reads the index.
    pub(crate) fn add(&self) {
        // A thread that is being destroyed counts in the first group.
        let group = GROUP.try_with(|group| *group).unwrap_or_default();
        if let Some(Count(count)) = self.shared.get(group) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts one use by a command that holds the collection's writer lock.
    pub(crate) fn add_alone(&self) {
        let count = self.alone.load(Ordering::Relaxed);
        self.alone.store(count + 1, Ordering::Relaxed);
    }

    /// Records the creation time of the index, unless it is set already.
    pub(crate) fn begin(&self, now: DateTime) {
        let now = now.timestamp_millis();
        // The exchange fails if the time is set already, which is fine.
        let _ = self
            .since
            .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> i64 {
        let shared = self
            .shared
            .iter()
            .map(|Count(count)| count.load(Ordering::Relaxed));
        shared.sum::<i64>() + self.alone.load(Ordering::Relaxed)
    }

    /// The start of counting; `None` for an index that no command created.
    pub(crate) fn since(&self) -> Option<DateTime> {
        let since = self.since.load(Ordering::Relaxed);
        (since != 0).then(|| DateTime::from_millis(since))
    }
}
