//! One attempt of a transaction: its outcome, and whether to retry.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::error::{Code, Error, Result};

const TRANSIENT: &str = "TransientTransactionError";
const UNKNOWN_COMMIT: &str = "UnknownTransactionCommitResult";

/// The outcome of a transaction, as far as this process knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Open,
    Committed,
    Aborted,
    /// A commit was sent, but its result did not arrive or is inconclusive.
    Unknown,
}

/// One attempt of a transaction, shared by its session and everything that depends on its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Attempt(Arc<State>);

#[derive(Debug)]
struct State {
    outcome: AtomicU8,
    transient: AtomicBool,
}

impl Attempt {
    fn new() -> Self {
        Self(Arc::new(State {
            outcome: AtomicU8::new(Outcome::Open as u8),
            transient: AtomicBool::new(false),
        }))
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let outcome = self.0.outcome.load(Ordering::Acquire);
        [Outcome::Open, Outcome::Committed, Outcome::Aborted]
            .into_iter()
            .find(|known| *known as u8 == outcome)
            .unwrap_or(Outcome::Unknown)
    }

    fn set(&self, outcome: Outcome) {
        self.0.outcome.store(outcome as u8, Ordering::Release);
    }

    /// Whether `other` is the same attempt of the same transaction.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Records transient errors of the transaction's operations. The label must be recorded here,
    /// because the transaction's body may convert the error into a type without labels.
    pub(crate) fn note<T>(&self, result: &Result<T>) {
        if let Err(error) = result
            && error.has_label(TRANSIENT)
        {
            self.0.transient.store(true, Ordering::Release);
        }
    }

    /// Whether an operation of the transaction failed with a transient error, so that a retry may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        self.0.transient.load(Ordering::Acquire)
    }

    /// Records that a commit is about to be sent. If its future is dropped, the outcome stays unknown.
    pub(super) fn committing(&self) {
        if self.outcome() == Outcome::Open {
            self.set(Outcome::Unknown);
        }
    }

    /// Records the result of a commit.
    pub(super) fn commit(&self, result: &Result<()>) {
        self.note(result);
        if matches!(self.outcome(), Outcome::Open | Outcome::Unknown) {
            self.set(match result {
                Ok(()) => Outcome::Committed,
                Err(error) if was_aborted(error) => Outcome::Aborted,
                // The write concern may have failed after the commit.
                Err(_) => Outcome::Unknown,
            });
        }
    }

    /// Records the abort. The outcome is final, whatever mongod replies.
    pub(super) fn abort(&self) {
        if self.outcome() == Outcome::Open {
            self.set(Outcome::Aborted);
        }
    }
}

/// Whether a commit's error means that nothing was committed.
fn was_aborted(error: &Error) -> bool {
    !error.has_label(UNKNOWN_COMMIT)
        && (error.has_label(TRANSIENT) || error.code() == Some(Code::NO_SUCH_TRANSACTION))
}

/// The session's own handle. Dropping it records an abort, because nothing else can commit.
#[derive(Debug)]
pub(super) struct Current(Attempt);

impl Current {
    pub(super) fn start() -> Self {
        Self(Attempt::new())
    }
}

impl Deref for Current {
    type Target = Attempt;

    fn deref(&self) -> &Attempt {
        &self.0
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // Dropping a session aborts its transaction.
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ServerError;

    fn failed(code: Code, label: &str) -> Result<()> {
        Err(ServerError::new(code, "failed").with_label(label).into())
    }

    #[test]
    fn a_commit_may_be_sent_again() {
        let attempt = Attempt::new();
        attempt.committing();
        assert_eq!(attempt.outcome(), Outcome::Unknown);
        attempt.commit(&failed(Code::INTERRUPTED, UNKNOWN_COMMIT));
        assert_eq!(attempt.outcome(), Outcome::Unknown);
        attempt.abort();
        assert_eq!(attempt.outcome(), Outcome::Unknown);
        attempt.commit(&Ok(()));
        assert_eq!(attempt.outcome(), Outcome::Committed);
        attempt.commit(&failed(Code::NO_SUCH_TRANSACTION, TRANSIENT));
        assert_eq!(attempt.outcome(), Outcome::Committed);
    }

    #[test]
    fn a_failed_commit_says_whether_it_aborted() {
        for (failure, outcome, transient) in [
            (
                failed(Code::NO_SUCH_TRANSACTION, TRANSIENT),
                Outcome::Aborted,
                true,
            ),
            (
                failed(Code::WRITE_CONFLICT, TRANSIENT),
                Outcome::Aborted,
                true,
            ),
            (
                failed(Code::NO_SUCH_TRANSACTION, UNKNOWN_COMMIT),
                Outcome::Unknown,
                false,
            ),
            (
                failed(Code::WRITE_CONFLICT, "Other"),
                Outcome::Unknown,
                false,
            ),
        ] {
            let attempt = Attempt::new();
            attempt.committing();
            attempt.commit(&failure);
            assert_eq!(attempt.outcome(), outcome, "{failure:?}");
            assert_eq!(attempt.is_transient(), transient, "{failure:?}");
        }
    }

    #[test]
    fn a_dropped_session_aborts() {
        let current = Current::start();
        let attempt = current.clone();
        assert!(attempt.is(&current) && !attempt.is(&Attempt::new()));
        drop(current);
        assert_eq!(attempt.outcome(), Outcome::Aborted);
    }
}
