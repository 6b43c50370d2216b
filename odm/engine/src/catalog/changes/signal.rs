//! A signal for threads and tasks outside of the engine that wait for writes.
//!
//! Each waiter names its [`Interest`]: writes elsewhere do not wake it.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::{ChangeKind, LoggedChange};
use crate::catalog::namespace::Namespace;

/// The writes that a waiter waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interest {
    Everything,
    Database(Arc<str>),
    Collection(Namespace),
}

impl Interest {
    /// The interest of a cursor, from the namespace in its replies.
    pub fn of(namespace: &Namespace) -> Self {
        match (&*namespace.database, &*namespace.collection) {
            ("admin", "$cmd.aggregate") => Self::Everything,
            (_, "$cmd.aggregate") => Self::Database(Arc::clone(&namespace.database)),
            _ => Self::Collection(namespace.clone()),
        }
    }

    /// Whether a change falls under this interest.
    fn is_of(&self, change: &LoggedChange) -> bool {
        match self {
            Self::Everything => true,
            Self::Database(database) => change.namespace.database == *database,
            Self::Collection(namespace) => {
                change.namespace == *namespace
                    || matches!(&change.what, ChangeKind::Rename { to, .. } if to == namespace)
            }
        }
    }
}

/// Counts the logged writes, and wakes the waiters.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    count: AtomicU64,
    /// Whether tasks are still to be woken. Waking runs foreign code, so it happens after all engine locks are
    /// released.
    is_due: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// The waiters, by listener number.
#[derive(Debug, Default)]
struct Waiting {
    listeners: u64,
    tasks: HashMap<u64, (Interest, Waker)>,
    threads: HashMap<u64, (Interest, Arc<Thread>)>,
    /// The tasks that are to be woken.
    due: Vec<Waker>,
}

/// A waiting thread.
#[derive(Debug, Default)]
struct Thread {
    is_woken: AtomicBool,
    woken: Condvar,
}

impl Waiting {
    fn listener(&mut self) -> u64 {
        self.listeners += 1;
        self.listeners
    }

    /// Wakes the concerned threads and queues the concerned tasks. Returns whether there are tasks to wake.
    fn raise(&mut self, is_concerned: impl Fn(&Interest) -> bool) -> bool {
        for (interest, thread) in self.threads.values() {
            if is_concerned(interest) {
                thread.is_woken.store(true, Ordering::Relaxed);
                thread.woken.notify_one();
            }
        }
        let concerned = self
            .tasks
            .extract_if(|_, (interest, _)| is_concerned(interest));
        self.due.extend(concerned.map(|(_, (_, waker))| waker));
        !self.due.is_empty()
    }
}

impl Signal {
    /// How often the signal was raised. Waiters pass it back as `seen`.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the threads that wait for one of these changes; [`wake`](Self::wake) wakes the tasks. The caller holds the
    /// log's lock, so waiters that read too early wait for the changes.
    pub(super) fn raise(&self, changes: &[LoggedChange]) {
        // Waiters compare `seen` and register under this lock, so none misses the signal in between.
        let mut waiting = self.waiting();
        self.count.fetch_add(1, Ordering::AcqRel);
        self.wake_those(&mut waiting, |interest| {
            changes.iter().any(|change| interest.is_of(change))
        });
    }

    /// Wakes all waiters, including those about to wait: unlogged writes were made.
    pub(super) fn start(&self) {
        let mut waiting = self.waiting();
        self.count.fetch_add(1, Ordering::AcqRel);
        self.wake_those(&mut waiting, |_| true);
    }

    /// Wakes all waiters: the log may soon drop events that they have not read.
    pub(super) fn raise_for_all(&self) {
        self.wake_those(&mut self.waiting(), |_| true);
    }

    fn wake_those(&self, waiting: &mut Waiting, is_concerned: impl Fn(&Interest) -> bool) {
        if waiting.raise(is_concerned) {
            self.is_due.store(true, Ordering::Release);
        }
    }

    /// Wakes the queued tasks, if any. The service calls it after the engine has answered.
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
        let tasks = mem::take(&mut waiting.due);
        drop(waiting);
        tasks.into_iter().for_each(Waker::wake);
    }

    /// A new listener number for a task.
    pub(crate) fn listener(&self) -> u64 {
        self.waiting().listener()
    }

    /// Ready if the signal was raised since `seen`; otherwise the next change that matches `interest` wakes the task.
    pub(crate) fn poll(
        &self,
        listener: u64,
        interest: &Interest,
        seen: u64,
        context: &Context<'_>,
    ) -> Poll<()> {
        let mut waiting = self.waiting();
        if self.count() != seen {
            return Poll::Ready(());
        }
        // The earlier waker is dropped after the lock is released: it may be the last handle of a task.
        let waits = (interest.clone(), context.waker().clone());
        let replaced = waiting.tasks.insert(listener, waits);
        drop(waiting);
        drop(replaced);
        Poll::Pending
    }

    /// Removes the listener's task.
    pub(crate) fn forget(&self, listener: u64) {
        let forgotten = self.waiting().tasks.remove(&listener);
        drop(forgotten);
    }

    /// Blocks until the signal was raised since `seen`, or a change matches `interest`, or `limit` has passed.
    pub(crate) fn wait(&self, interest: Interest, seen: u64, limit: Duration) {
        let mut waiting = self.waiting();
        if self.count() != seen {
            return;
        }
        let thread = Arc::new(Thread::default());
        let listener = waiting.listener();
        let waits = (interest, Arc::clone(&thread));
        waiting.threads.insert(listener, waits);
        let woken = thread
            .woken
            .wait_timeout_while(waiting, limit, |_| !thread.is_woken.load(Ordering::Relaxed));
        let (mut waiting, _) = woken.unwrap_or_else(PoisonError::into_inner);
        waiting.threads.remove(&listener);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};
    use std::time::{Duration, Instant};

    use super::{Interest, Signal};
    use crate::catalog::changes::{ChangeKind, LoggedChange};
    use crate::catalog::namespace::Namespace;

    const LONG: Duration = Duration::from_secs(60);

    fn change(database: &str, collection: &str) -> [LoggedChange; 1] {
        [LoggedChange {
            namespace: Namespace::new(database, collection),
            uuid: None,
            what: ChangeKind::Drop,
        }]
    }

    fn interest(database: &str, collection: &str) -> Interest {
        Interest::of(&Namespace::new(database, collection))
    }

    #[test]
    fn a_waiter_returns_at_once_if_behind_and_is_woken_otherwise() {
        let signal = Signal::default();
        let seen = signal.count();
        signal.raise(&change("d", "c"));
        let start = Instant::now();
        signal.wait(interest("other", "c"), seen, LONG);
        std::thread::scope(|scope| {
            let (signal, seen) = (&signal, signal.count());
            let waiting = scope.spawn(move || signal.wait(interest("d", "c"), seen, LONG));
            while !waiting.is_finished() {
                signal.raise(&change("d", "c"));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(start.elapsed() < Duration::from_secs(50));
        assert!(signal.waiting().threads.is_empty());
    }

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_task_is_woken_once_per_write_unless_deregistered() {
        let signal = Signal::default();
        let everything = interest("admin", "$cmd.aggregate");
        let (one, other) = (signal.listener(), signal.listener());
        let counters = [(); 2].map(|()| Arc::new(Counter::default()));
        let wakers = counters.clone().map(Into::into);
        let [first, second] = wakers.each_ref().map(Context::from_waker);
        let seen = signal.count();
        // A listener that polls repeatedly waits only once.
        for _ in 0..3 {
            assert!(signal.poll(one, &everything, seen, &first).is_pending());
        }
        assert!(signal.poll(other, &everything, seen, &second).is_pending());
        signal.forget(other);
        let woken = || counters.each_ref().map(|it| it.0.load(Ordering::Relaxed));
        signal.raise(&change("d", "c"));
        assert_eq!(woken(), [0, 0]);
        signal.wake();
        signal.wake();
        assert_eq!(woken(), [1, 0]);
        assert!(signal.poll(one, &everything, seen, &first).is_ready());
        assert!(signal.waiting().tasks.is_empty());
    }

    #[test]
    fn waiters_are_woken_only_for_their_collections() {
        let signal = Signal::default();
        let interests = [
            ("d", "c"),
            ("d", "$cmd.aggregate"),
            ("admin", "$cmd.aggregate"),
        ];
        let counters = [(); 3].map(|()| Arc::new(Counter::default()));
        let wakers = counters.clone().map(Into::into);
        let contexts = wakers.each_ref().map(Context::from_waker);
        let listeners = interests.map(|_| signal.listener());
        let renamed = [LoggedChange {
            namespace: Namespace::new("e", "x"),
            uuid: None,
            what: ChangeKind::Rename {
                to: Namespace::new("d", "c"),
                replaced: None,
            },
        }];
        for (changes, expected) in [
            (change("d", "c"), [1, 1, 1]),
            (change("d", "x"), [0, 1, 1]),
            (change("e", "c"), [0, 0, 1]),
            (renamed, [1, 0, 1]),
        ] {
            let seen = signal.count();
            for ((listener, (database, collection)), context) in
                listeners.iter().zip(interests).zip(&contexts)
            {
                let interest = interest(database, collection);
                assert!(
                    signal
                        .poll(*listener, &interest, seen, context)
                        .is_pending()
                );
            }
            signal.raise(&changes);
            signal.wake();
            let woken = counters
                .each_ref()
                .map(|it| it.0.swap(0, Ordering::Relaxed));
            assert_eq!(woken, expected, "{changes:?}");
        }
        // All waiters are woken before unread events are dropped.
        signal.raise_for_all();
        signal.wake();
        let woken = counters
            .each_ref()
            .map(|it| it.0.swap(0, Ordering::Relaxed));
        assert_eq!(woken, [0, 1, 0]);
    }
}
