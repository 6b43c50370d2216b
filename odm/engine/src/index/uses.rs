//! How often an index was used, and since when that is counted.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use bson::DateTime;

/// The groups of threads that count apart.
const GROUPS: usize = 8;

/// The next thread's group.
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static GROUP: usize = NEXT.fetch_add(1, Ordering::Relaxed) % GROUPS;
}

/// A count that shares no cache line with another.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Count(AtomicI64);

/// The uses of one index. All versions of a collection share them; a changed specification begins anew, as on mongod.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// By commands that may run side by side: a count for each group of threads. One count for all would have every
    /// read wait until its memory comes from the processor of the last.
    shared: [Count; GROUPS],
    /// By those that hold the collection's writer lock: they can count without a locked instruction.
    alone: AtomicI64,
    /// In milliseconds.
    since: AtomicI64,
}

impl Uses {
    /// Notes one more: a command's plan that goes by the index.
    pub(crate) fn add(&self) {
        // A thread that ends counts with the first group.
        let group = GROUP.try_with(|group| *group).unwrap_or_default();
        if let Some(Count(count)) = self.shared.get(group) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The same for whoever holds the collection's writer lock.
    pub(crate) fn add_alone(&self) {
        let count = self.alone.load(Ordering::Relaxed);
        self.alone.store(count + 1, Ordering::Relaxed);
    }

    /// Notes when the index was made, unless that is known.
    pub(crate) fn begin(&self, now: DateTime) {
        let now = now.timestamp_millis();
        // Known is as good.
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

    /// None of an index that came without a command.
    pub(crate) fn since(&self) -> Option<DateTime> {
        let since = self.since.load(Ordering::Relaxed);
        (since != 0).then(|| DateTime::from_millis(since))
    }
}
