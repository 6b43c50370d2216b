//! Deadlines: one for all commands of a call.
//!
//! A future with a deadline sets it for the time of each poll, so that every command that is sent in the poll finds it, however deep
//! in the library. Handles and sessions may carry one as well.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

use crate::error::{Code, DeadlineError, Error, Result};

thread_local! {
    /// The deadline of the future that this thread polls.
    static CURRENT: RefCell<Option<Deadline>> = const { RefCell::new(None) };
}

/// When a call must be done, and what it has done; clones share it.
#[derive(Clone)]
pub(crate) struct Deadline(Arc<State>);

struct State {
    limit: Duration,
    end: Instant,
    /// The deadline around it, which is not earlier.
    outer: Option<Deadline>,
    progress: Mutex<Progress>,
}

impl Deadline {
    /// A deadline from now on. Within another one, the earlier end counts.
    pub(crate) fn after(limit: Duration) -> Self {
        let outer = Self::current();
        let now = Instant::now();
        // A limit beyond the clock's range ends in decades.
        let end = now
            .checked_add(limit)
            .unwrap_or_else(|| now + Duration::from_secs(1 << 31));
        let end = outer.as_ref().map_or(end, |outer| outer.0.end.min(end));
        Self(Arc::new(State {
            limit,
            end,
            outer,
            progress: Mutex::default(),
        }))
    }

    /// The deadline of the future that is being polled.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Makes it the current one until the guard is dropped.
    pub(crate) fn enter(&self) -> Entered {
        Entered(CURRENT.replace(Some(self.clone())))
    }

    /// The earlier one of two.
    pub(crate) fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if one.0.end <= other.0.end { one } else { other }),
            (one, other) => one.or(other),
        }
    }

    /// The time that is left, or an error if none is.
    fn left(&self) -> Result<Duration> {
        let left = self.0.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            Err(self.error())
        } else {
            Ok(left)
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.0.end
    }

    /// Whether the end is at most a hundredth of a second away.
    fn is_near(&self) -> bool {
        self.0.end.saturating_duration_since(Instant::now()) <= Duration::from_millis(10)
    }

    /// The error of a call that is not done, with what it has done.
    fn error(&self) -> Error {
        let progress = self.progress();
        Error::new(DeadlineError {
            limit: self.0.limit,
            earlier: progress.earlier,
            answered: progress.answered.iter().cloned().collect(),
            in_flight: progress
                .in_flight
                .iter()
                .map(|(_, name)| name.clone())
                .collect(),
        })
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The deadlines of one command: the earliest ends it, and each notes it for its error.
pub(crate) struct Deadlines {
    earliest: Deadline,
    /// All of them, each once.
    all: Vec<Deadline>,
}

impl Deadlines {
    /// Those of the future that is being polled and of what the command uses, such as a session, with those around each.
    pub(crate) fn of_command(own: impl IntoIterator<Item = Deadline>) -> Option<Self> {
        let mut all: Vec<Deadline> = Vec::new();
        let mut earliest: Option<Deadline> = None;
        for deadline in Deadline::current().into_iter().chain(own) {
            let mut around = Some(&deadline);
            while let Some(deadline) = around {
                if !all.iter().any(|known| Arc::ptr_eq(&known.0, &deadline.0)) {
                    all.push(deadline.clone());
                }
                around = deadline.0.outer.as_ref();
            }
            earliest = Deadline::earlier(earliest, Some(deadline));
        }
        earliest.map(|earliest| Self { earliest, all })
    }

    pub(crate) fn earliest(&self) -> Deadline {
        self.earliest.clone()
    }

    /// An error if the time is up.
    pub(crate) fn check(&self) -> Result<()> {
        self.earliest.left().map(drop)
    }

    /// The time that is left as a `maxTimeMS`, which has at most 31 bits.
    pub(crate) fn max_time(&self) -> Result<Option<Duration>> {
        let left = self.earliest.left()?;
        // Zero stands for no limit.
        let millis = left.as_millis().max(1);
        Ok(i32::try_from(millis)
            .ok()
            .map(|_| left.max(Duration::from_millis(1))))
    }

    /// Waits for the answer to a command, until the earliest deadline. `name` is the command's for the error.
    pub(crate) async fn watch<T>(
        self,
        name: String,
        answer: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let number = self.sent(&name);
        let answer = Bounded::new(answer, self.earliest.clone()).await?;
        self.answered(number, &name);
        match answer {
            // MongoDB's limit was ours, and its clock ran a little ahead.
            Err(error)
                if error.code() == Some(Code::MAX_TIME_MS_EXPIRED) && self.earliest.is_near() =>
            {
                Err(self.earliest.error())
            }
            answer => answer,
        }
    }

    fn sent(&self, name: &str) -> u64 {
        static SENT: AtomicU64 = AtomicU64::new(0);
        let number = SENT.fetch_add(1, Ordering::Relaxed);
        for deadline in &self.all {
            let in_flight = &mut deadline.progress().in_flight;
            in_flight.push((number, name.to_owned()));
        }
        number
    }

    fn answered(&self, number: u64, name: &str) {
        for deadline in &self.all {
            deadline.progress().answered(number, name);
        }
    }
}

/// The commands of a deadline.
#[derive(Default)]
struct Progress {
    /// The last commands that were answered, each with how many of them followed each other.
    answered: VecDeque<(String, u64)>,
    /// How many were answered before those.
    earlier: u64,
    /// Each with its number.
    in_flight: Vec<(u64, String)>,
}

impl Progress {
    /// A deadline may have thousands of commands, and its error names the last ones.
    const KEPT: usize = 10;

    fn answered(&mut self, number: u64, name: &str) {
        self.in_flight.retain(|(sent, _)| *sent != number);
        match self.answered.back_mut() {
            Some((last, count)) if *last == name => *count += 1,
            _ => self.answered.push_back((name.to_owned(), 1)),
        }
        if self.answered.len() > Self::KEPT
            && let Some((_, count)) = self.answered.pop_front()
        {
            self.earlier += count;
        }
    }
}

/// A deadline that wakes its task.
#[derive(Debug)]
pub(crate) struct Timer {
    deadline: Deadline,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    pub(crate) fn new(deadline: Deadline) -> Self {
        Self {
            deadline,
            sleep: None,
        }
    }

    /// The error of a deadline that has passed; otherwise the task wakes when it does.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        if self.deadline.is_over() {
            return Poll::Ready(self.deadline.error());
        }
        // Without a runtime, the time is looked at whenever the future is polled.
        if self.sleep.is_none() && tokio::runtime::Handle::try_current().is_ok() {
            let end = tokio::time::Instant::from_std(self.deadline.0.end);
            self.sleep = Some(Box::pin(tokio::time::sleep_until(end)));
        }
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().poll(context).map(|()| self.deadline.error()),
            None => Poll::Pending,
        }
    }

    /// Polls a future that must be ready before the deadline. One that is ready at once needs no timer.
    pub(crate) fn poll_before<T>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<Result<T>> {
        let polled = {
            let _entered = self.start()?;
            poll(context)
        };
        match polled {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll(context).map(Err),
        }
    }

    /// Makes the deadline the current one, unless it has passed.
    fn start(&self) -> Result<Entered> {
        self.deadline.left()?;
        Ok(self.deadline.enter())
    }
}

/// A future that is dropped at its deadline.
#[derive(Debug)]
pub(crate) struct Bounded<F: Future> {
    /// Dropped when it is done or the deadline has passed, which ends what it has open.
    future: Option<Pin<Box<F>>>,
    timer: Timer,
}

impl<F: Future> Bounded<F> {
    pub(crate) fn new(future: F, deadline: Deadline) -> Self {
        Self {
            future: Some(Box::pin(future)),
            timer: Timer::new(deadline),
        }
    }
}

impl<F: Future> Future for Bounded<F> {
    type Output = Result<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { future, timer } = &mut *self;
        let polled = timer.poll_before(context, |context| match future {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Pending,
        });
        if polled.is_ready() {
            *future = None;
        }
        polled
    }
}

/// Restores the current deadline when it is dropped.
#[must_use]
pub(crate) struct Entered(Option<Deadline>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline")
            .field("limit", &self.0.limit)
            .field("end", &self.0.end)
            .finish_non_exhaustive()
    }
}
