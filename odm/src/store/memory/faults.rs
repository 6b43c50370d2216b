//! The faults of a hostile engine, and what the official driver does after each of them.

use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Binary, rawdoc, spec::BinarySubtype};
use odm_engine::{Fault, Hostility, Target};
use odm_language::value::raw;
use tokio::time::Sleep;

use crate::error::{Code, ConnectionError, Error, Result, ServerError};
use crate::store::memory::retry::Retry;

const RETRYABLE: &str = "RetryableWriteError";
const UNKNOWN_COMMIT: &str = "UnknownTransactionCommitResult";

/// The way between the store and a hostile engine.
pub(super) struct Faults {
    hostility: Hostility,
    /// The sessions of retryable writes that are not in use. Drivers have such sessions, too.
    implicit: Mutex<Vec<ImplicitSession>>,
}

/// A session of writes that name none.
pub(super) struct ImplicitSession {
    pub(super) id: RawDocumentBuf,
    pub(super) number: i64,
}

impl Faults {
    /// `None` if no command fails or waits.
    pub(super) fn of(hostility: Option<&Hostility>) -> Option<Self> {
        let hostility = hostility.filter(|hostility| hostility.has_faults())?;
        Some(Self {
            hostility: hostility.clone(),
            implicit: Mutex::default(),
        })
    }

    pub(super) fn strike(&self, target: Target) -> Option<Fault> {
        self.hostility.strike(target)
    }

    fn implicit(&self) -> MutexGuard<'_, Vec<ImplicitSession>> {
        self.implicit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session for one retryable write.
    pub(super) fn implicit_session(&self) -> ImplicitSession {
        let mut session = self.implicit().pop().unwrap_or_else(|| ImplicitSession {
            id: new_id(),
            number: 0,
        });
        session.number += 1;
        session
    }

    /// Takes back a session that is not in use any more.
    pub(super) fn keep(&self, session: ImplicitSession) {
        self.implicit().push(session);
    }

    /// The delays of a command: before it is executed, and before its reply arrives.
    pub(super) fn delays(&self) -> [Option<Duration>; 2] {
        self.hostility.delays()
    }

    /// Sends a command, and once more if it fails and may be retried. `Retry::Write` needs a transaction number in the
    /// command.
    pub(super) async fn send<F>(
        &self,
        command: RawDocumentBuf,
        retry: Retry,
        send: impl Fn(RawDocumentBuf) -> F,
    ) -> Result<RawDocumentBuf>
    where
        F: Future<Output = Result<RawDocumentBuf>>,
    {
        let labels: &[&str] = match retry {
            Retry::Never | Retry::Read => &[],
            Retry::Write => &[RETRYABLE],
            Retry::Commit => &[RETRYABLE, UNKNOWN_COMMIT],
        };
        let targets: &[Target] = match retry {
            Retry::Never => &[Target::Once],
            Retry::Read | Retry::Write | Retry::Commit => &[Target::FirstTry, Target::Retry],
        };
        let mut failure = None;
        for target in targets {
            let [before, after] = self.delays();
            wait(before).await;
            let Some(fault) = self.strike(*target) else {
                let reply = send(command).await;
                wait(after).await;
                return reply;
            };
            if fault == Fault::LostReply {
                drop(send(command.clone()).await);
            }
            failure = Some(self.error(fault, retry == Retry::Read, labels));
        }
        Err(failure.unwrap_or_else(|| self.broken(labels)))
    }

    /// The error that the caller of a failed command gets.
    pub(super) fn error(&self, fault: Fault, reads: bool, labels: &[&str]) -> Error {
        let (code, message) = match fault {
            Fault::LostRequest | Fault::LostReply => return self.broken(labels),
            Fault::NotPrimary if reads => (
                Code::NOT_PRIMARY_NO_SECONDARY_OK,
                "not primary and secondaryOk=false",
            ),
            Fault::NotPrimary => (Code::NOT_WRITABLE_PRIMARY, "not primary"),
            Fault::Conflict => (
                Code::WRITE_CONFLICT,
                "WriteConflict error: this operation conflicted with another operation. Please \
                 retry your operation or multi-document transaction.",
            ),
        };
        let message = format!("{message} ({})", self.origin());
        let mut error = ServerError::new(code, message);
        for label in labels {
            error = error.with_label(label);
        }
        error.into()
    }

    /// A network error.
    pub(super) fn broken(&self, labels: &[&str]) -> Error {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let source = io::Error::from(io::ErrorKind::UnexpectedEof);
        let message = format!("the connection broke: {source} ({})", self.origin());
        Error::new(ConnectionError::new(
            message,
            false,
            labels,
            Some(Box::new(source)),
        ))
    }

    /// The remark by which a reader of a test's output knows where an error comes from, and how to repeat it.
    fn origin(&self) -> String {
        format!("made by `Hostility`, seed {}", self.hostility.seed())
    }

    /// The delay of the next batch of a cursor.
    pub(super) fn delay(&self) -> Delay {
        let delay = self.hostility.delays().into_iter().flatten().next();
        Delay(
            delay
                .filter(|_| has_timer())
                .map(|delay| Box::pin(tokio::time::sleep(delay))),
        )
    }
}

/// A delay that a cursor waits for.
pub(super) struct Delay(Option<Pin<Box<Sleep>>>);

impl Delay {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(sleep) = &mut self.0 {
            ready!(sleep.as_mut().poll(cx));
        }
        Poll::Ready(())
    }
}

/// Whether a command of a transaction writes.
pub(super) fn writes(command: &RawDocument) -> bool {
    let name = raw::elements(command).next().map_or("", |(name, _)| name);
    matches!(
        name,
        "insert"
            | "update"
            | "delete"
            | "findAndModify"
            | "findandmodify"
            | "create"
            | "createIndexes"
    )
}

pub(super) async fn wait(delay: Option<Duration>) {
    if let Some(delay) = delay.filter(|_| has_timer()) {
        tokio::time::sleep(delay).await;
    }
}

/// Outside of a Tokio runtime there are no timers.
fn has_timer() -> bool {
    tokio::runtime::Handle::try_current().is_ok()
}

/// A new `lsid`.
pub(super) fn new_id() -> RawDocumentBuf {
    let id = Binary {
        subtype: BinarySubtype::Uuid,
        bytes: bson::Uuid::new().bytes().to_vec(),
    };
    rawdoc! { "id": id }
}
