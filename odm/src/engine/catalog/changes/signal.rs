//! A signal that something was written, for those who wait for it outside of the engine: threads, and tasks.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Counts what was logged, and wakes who waits for more.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    count: AtomicU64,
    /// Whether tasks are still to be woken: waking them runs code of others, which must meet no lock of the engine.
    is_due: AtomicBool,
    waiting: Mutex<Waiting>,
    raised: Condvar,
}

/// The tasks that wait, by the numbers of their listeners.
#[derive(Debug, Default)]
struct Waiting {
    listeners: u64,
    tasks: HashMap<u64, Waker>,
}

impl Signal {
    /// How often it was raised: what a waiter has seen.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the threads that wait. Tasks are woken by [`wake`](Self::wake).
    pub(super) fn raise(&self) {
        // Nobody is between having looked and waiting.
        let waiting = self.waiting();
        self.count.fetch_add(1, Ordering::AcqRel);
        if !waiting.tasks.is_empty() {
            self.is_due.store(true, Ordering::Release);
        }
        drop(waiting);
        self.raised.notify_all();
    }

    /// Wakes the tasks that wait, if it was raised. Whoever wrote calls it when the engine has answered.
    #[inline]
    pub(crate) fn wake(&self) {
        if self.is_due.load(Ordering::Relaxed) {
            self.wake_tasks();
        }
    }

    #[cold]
    fn wake_tasks(&self) {
        let mut waiting = self.waiting();
        self.is_due.store(false, Ordering::Relaxed);
        let tasks = mem::take(&mut waiting.tasks);
        drop(waiting);
        tasks.into_values().for_each(Waker::wake);
    }

    /// The number by which a task waits.
    pub(crate) fn listener(&self) -> u64 {
        let mut waiting = self.waiting();
        waiting.listeners += 1;
        waiting.listeners
    }

    /// Ready if it was raised since `seen`; else the listener's task is woken when it is.
    pub(crate) fn poll(&self, listener: u64, seen: u64, context: &Context<'_>) -> Poll<()> {
        let mut waiting = self.waiting();
        if self.count() != seen {
            return Poll::Ready(());
        }
        // What was there is dropped behind the lock: it may be the last handle of a task.
        let replaced = waiting.tasks.insert(listener, context.waker().clone());
        drop(waiting);
        drop(replaced);
        Poll::Pending
    }

    /// The listener's task waits no more.
    pub(crate) fn forget(&self, listener: u64) {
        let forgotten = self.waiting().tasks.remove(&listener);
        drop(forgotten);
    }

    /// Blocks until it was raised since `seen`, or for as long as the limit says.
    #[cfg_attr(
        not(any(feature = "server", test)),
        expect(dead_code, reason = "only a server's threads wait")
    )]
    pub(crate) fn wait(&self, seen: u64, limit: Duration) {
        let waiting = self.waiting();
        drop(
            self.raised
                .wait_timeout_while(waiting, limit, |_| self.count() == seen),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};
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

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_task_is_woken_once_after_the_write_and_not_when_it_is_forgotten() {
        let signal = Signal::default();
        let (one, other) = (signal.listener(), signal.listener());
        let counters = [(); 2].map(|()| Arc::new(Counter::default()));
        let wakers = counters.clone().map(Into::into);
        let [first, second] = wakers.each_ref().map(Context::from_waker);
        let seen = signal.count();
        // However often it asks, it is one task that waits.
        for _ in 0..3 {
            assert!(signal.poll(one, seen, &first).is_pending());
        }
        assert!(signal.poll(other, seen, &second).is_pending());
        signal.forget(other);
        let woken = || counters.each_ref().map(|it| it.0.load(Ordering::Relaxed));
        signal.raise();
        assert_eq!(woken(), [0, 0]);
        signal.wake();
        signal.wake();
        assert_eq!(woken(), [1, 0]);
        assert!(signal.poll(one, seen, &first).is_ready());
        assert!(signal.waiting().tasks.is_empty());
    }
}
