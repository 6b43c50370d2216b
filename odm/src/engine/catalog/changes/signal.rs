//! A signal that something was written, for those who wait for it outside of the engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Counts what was logged, and wakes who waits for more.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    count: AtomicU64,
    waiting: Mutex<()>,
    raised: Condvar,
}

impl Signal {
    /// How often it was raised: what a waiter has seen.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(super) fn raise(&self) {
        // Nobody is between having looked and waiting.
        let waiting = self.waiting.lock();
        self.count.fetch_add(1, Ordering::AcqRel);
        drop(waiting);
        self.raised.notify_all();
    }

    /// Blocks until it was raised since `seen`, or for as long as the limit says.
    #[cfg_attr(
        not(any(feature = "server", test)),
        expect(dead_code, reason = "only a server's threads wait")
    )]
    pub(crate) fn wait(&self, seen: u64, limit: Duration) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        drop(
            self.raised
                .wait_timeout_while(waiting, limit, |()| self.count() == seen),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Signal;

    #[test]
    fn who_has_seen_less_does_not_wait_and_who_waits_is_woken() {
        let signal = Signal::default();
        let seen = signal.count();
        signal.raise();
        let start = Instant::now();
        signal.wait(seen, Duration::from_secs(60));
        std::thread::scope(|scope| {
            let (signal, seen) = (&signal, signal.count());
            let waiting = scope.spawn(move || signal.wait(seen, Duration::from_secs(60)));
            while !waiting.is_finished() {
                signal.raise();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
