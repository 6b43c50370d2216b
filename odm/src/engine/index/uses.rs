//! How often an index was used, and since when that is counted.

use std::sync::atomic::{AtomicI64, Ordering};

use bson::DateTime;

/// The uses of one index. All versions of a collection share them; a changed specification begins anew, as on a server.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// By commands that may run side by side.
    shared: AtomicI64,
    /// By those that hold the collection's writer lock: they can count without a locked instruction.
    alone: AtomicI64,
    /// In milliseconds.
    since: AtomicI64,
}

impl Uses {
    /// Notes one more: a command's plan that goes by the index.
    pub(crate) fn add(&self) {
        self.shared.fetch_add(1, Ordering::Relaxed);
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
        self.shared.load(Ordering::Relaxed) + self.alone.load(Ordering::Relaxed)
    }

    /// None of an index that came without a command.
    pub(crate) fn since(&self) -> Option<DateTime> {
        let since = self.since.load(Ordering::Relaxed);
        (since != 0).then(|| DateTime::from_millis(since))
    }
}
