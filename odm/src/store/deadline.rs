//! Deadlines: one for all commands of a call.
//!
//! A future with a deadline sets it for the time of each poll, so that every command that is sent in the poll finds it, however deep
//! in the library. Handles and sessions may carry one as well.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
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

#[derive(Default)]
struct Progress {
    answered: Vec<(String, u64)>,
    in_flight: Vec<(u64, String)>,
    sent: u64,
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

    /// Runs this with the deadline as the current one.
    pub(crate) fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
        let _entered = Entered(CURRENT.replace(Some(self.clone())));
        run()
    }

    /// The earlier one of two.
    pub(crate) fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if one.0.end <= other.0.end { one } else { other }),
            (one, other) => one.or(other),
        }
    }

    /// The time that is left, or an error if none is.
    pub(crate) fn left(&self) -> Result<Duration> {
        let left = self.0.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            Err(self.error())
        } else {
            Ok(left)
        }
    }

    /// The time that is left as a `maxTimeMS`, which has at most 31 bits.
    pub(crate) fn max_time(&self) -> Result<Option<Duration>> {
        let left = self.left()?;
        // Zero stands for no limit.
        let millis = left.as_millis().max(1);
        Ok(i32::try_from(millis)
            .ok()
            .map(|_| left.max(Duration::from_millis(1))))
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.0.end
    }

    /// The error of a call that is not done, with what it has done.
    pub(crate) fn error(&self) -> Error {
        let progress = self.progress();
        Error::new(DeadlineError {
            limit: self.0.limit,
            answered: progress.answered.clone(),
            in_flight: progress
                .in_flight
                .iter()
                .map(|(_, name)| name.clone())
                .collect(),
        })
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.0
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the answer to a command, until the deadline. `name` is the command's for the error.
    pub(crate) async fn watch<T>(
        self,
        name: String,
        answer: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let number = self.sent(&name);
        let answer = Bounded::new(answer, self.clone()).await?;
        self.answered(number, name);
        match answer {
            // MongoDB's limit was ours, and its clock ran a little ahead.
            Err(error) if error.code() == Some(Code::MAX_TIME_MS_EXPIRED) && self.is_near() => {
                Err(self.error())
            }
            answer => answer,
        }
    }

    /// Whether the end is at most a hundredth of a second away.
    fn is_near(&self) -> bool {
        self.0.end.saturating_duration_since(Instant::now()) <= Duration::from_millis(10)
    }

    fn sent(&self, name: &str) -> u64 {
        let number = {
            let mut progress = self.progress();
            progress.sent += 1;
            let number = progress.sent;
            progress.in_flight.push((number, name.to_owned()));
            number
        };
        if let Some(outer) = &self.0.outer {
            outer.sent(name);
        }
        number
    }

    fn answered(&self, number: u64, name: String) {
        if let Some(outer) = &self.0.outer {
            outer.answered_by_name(&name);
        }
        let mut progress = self.progress();
        progress.in_flight.retain(|(sent, _)| *sent != number);
        progress.note(name);
    }

    /// Like [`answered`](Self::answered), around the deadline that knows the number.
    fn answered_by_name(&self, name: &str) {
        if let Some(outer) = &self.0.outer {
            outer.answered_by_name(name);
        }
        let mut progress = self.progress();
        if let Some(index) = progress.in_flight.iter().position(|(_, sent)| sent == name) {
            progress.in_flight.remove(index);
        }
        progress.note(name.to_owned());
    }
}

impl Progress {
    fn note(&mut self, name: String) {
        match self.answered.last_mut() {
            Some((last, count)) if *last == name => *count += 1,
            _ => self.answered.push((name, 1)),
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

    /// Whether the time is up; otherwise the task wakes when it is.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.deadline.is_over() {
            return Poll::Ready(());
        }
        // Without a runtime, the time is looked at whenever the future is polled.
        if self.sleep.is_none() && tokio::runtime::Handle::try_current().is_ok() {
            let end = tokio::time::Instant::from_std(self.deadline.0.end);
            self.sleep = Some(Box::pin(tokio::time::sleep_until(end)));
        }
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().poll(context),
            None => Poll::Pending,
        }
    }

    /// Polls what must be ready before the deadline. What is ready at once needs no timer.
    pub(crate) fn poll_before<T>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<Result<T>> {
        if self.deadline.is_over() {
            return Poll::Ready(Err(self.deadline.error()));
        }
        match self.deadline.enter(|| poll(context)) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll(context).map(|()| Err(self.deadline.error())),
        }
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
struct Entered(Option<Deadline>);

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
