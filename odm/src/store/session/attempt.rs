//! One attempt of a transaction: its outcome, and whether to retry.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bson::{DateTime, Document};

use crate::error::{Code, Error, Result, ServerError};

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
    /// A time before its first read, whose snapshot all its reads see.
    started: DateTime,
    /// The error of the last operation, if MongoDB may have aborted the transaction because of it.
    failed: Mutex<Option<String>>,
}

impl Attempt {
    fn new() -> Self {
        Self(Arc::new(State {
            outcome: AtomicU8::new(Outcome::Open as u8),
            transient: AtomicBool::new(false),
            started: DateTime::now(),
            failed: Mutex::new(None),
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

    /// A time before the snapshot that its reads see, by the clock of this machine.
    pub(crate) fn started(&self) -> DateTime {
        self.0.started
    }

    /// Whether `other` is the same attempt of the same transaction.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Records the result of an operation of the transaction, and returns it.
    ///
    /// The transient label must be recorded here, because the transaction's body may convert the error into a type
    /// without labels. MongoDB aborts a transaction after most errors, but not after all: whether it did shows in the
    /// reply to the next operation.
    pub(crate) fn note<T>(&self, result: Result<T>) -> Result<T> {
        let mut failed = self.0.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match result {
            Ok(value) => {
                *failed = None;
                return Ok(value);
            }
            Err(error) => error,
        };
        if error.code() == Some(Code::NO_SUCH_TRANSACTION)
            && let Some(cause) = &*failed
        {
            return Err(aborted_by(cause));
        }
        if error.has_label(TRANSIENT) {
            self.0.transient.store(true, Ordering::Release);
        } else if error.server().is_some() {
            failed.get_or_insert_with(|| error.to_string());
        }
        Err(error)
    }

    /// Like [`note`](Self::note), for a raw command: a reply with write errors is not an error of the command, but MongoDB has
    /// aborted the transaction.
    pub(crate) fn note_reply(&self, reply: Result<Document>) -> Result<Document> {
        let refused = reply.as_ref().ok().and_then(|reply| {
            let refused = reply
                .get_array("writeErrors")
                .ok()?
                .first()?
                .as_document()?;
            Some(
                refused
                    .get_str("errmsg")
                    .unwrap_or("a write error")
                    .to_owned(),
            )
        });
        let reply = self.note(reply);
        if let Some(refused) = refused {
            let mut failed = self.0.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(refused);
        }
        reply
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

    /// Records the result of a commit, and returns it.
    pub(super) fn commit(&self, result: Result<()>) -> Result<()> {
        let result = self.note(result);
        if matches!(self.outcome(), Outcome::Open | Outcome::Unknown) {
            self.set(match &result {
                Ok(()) => Outcome::Committed,
                Err(error) if was_aborted(error) => Outcome::Aborted,
                // The write concern may have failed after the commit.
                Err(_) => Outcome::Unknown,
            });
        }
        result
    }

    /// Records the abort. The outcome is final, whatever mongod replies.
    pub(super) fn abort(&self) {
        if self.outcome() == Outcome::Open {
            self.set(Outcome::Aborted);
        }
    }
}

/// The error of an operation after the one that made MongoDB abort the transaction. Without the transient label, because
/// the same body would fail in the same way.
fn aborted_by(cause: &str) -> Error {
    let message = format!(
        "MongoDB aborted the transaction when an operation in it failed ({cause}): end the transaction with that error, \
         and look for what would make an operation fail before it is sent"
    );
    ServerError::new(Code::NO_SUCH_TRANSACTION, message).into()
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
        let _ = attempt.commit(failed(Code::INTERRUPTED, UNKNOWN_COMMIT));
        assert_eq!(attempt.outcome(), Outcome::Unknown);
        attempt.abort();
        assert_eq!(attempt.outcome(), Outcome::Unknown);
        attempt.commit(Ok(())).unwrap();
        assert_eq!(attempt.outcome(), Outcome::Committed);
        let _ = attempt.commit(failed(Code::NO_SUCH_TRANSACTION, TRANSIENT));
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
            let failure = attempt.commit(failure);
            assert_eq!(attempt.outcome(), outcome, "{failure:?}");
            assert_eq!(attempt.is_transient(), transient, "{failure:?}");
        }
    }

    #[test]
    fn an_operation_after_an_abort_names_its_cause() {
        let gone = || failed(Code::NO_SUCH_TRANSACTION, TRANSIENT);
        let attempt = Attempt::new();
        let _ = attempt.note(failed(Code::DUPLICATE_KEY, "Other"));
        let error = attempt.note(gone()).unwrap_err();
        assert!(!error.is_retryable() && error.to_string().contains("DuplicateKey"));
        let error = attempt.commit(gone()).unwrap_err();
        assert!(!attempt.is_transient() && error.to_string().contains("DuplicateKey"));
        assert_eq!(attempt.outcome(), Outcome::Aborted);

        // An operation that succeeds shows that the error before it aborted nothing.
        let attempt = Attempt::new();
        let _ = attempt.note(failed(Code::DUPLICATE_KEY, "Other"));
        attempt.note(Ok(())).unwrap();
        assert!(attempt.note(gone()).unwrap_err().is_retryable());
        assert!(attempt.is_transient());
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
