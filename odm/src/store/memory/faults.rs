//! The faults of a hostile engine, and what the official driver does after each of them.

use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bson::raw::{RawDocument, RawDocumentBuf, cstr};
use odm_engine::{Fault, Hostility, TRANSIENT, Target};
use odm_language::value::raw;
use tokio::time::Sleep;

use crate::error::{Code, ConnectionError, Error, Result, ServerError};
use crate::store::memory::session::new_id;
use crate::store::memory::{Memory, MemorySession, Retry};

const RETRYABLE: &str = "RetryableWriteError";
const UNKNOWN_COMMIT: &str = "UnknownTransactionCommitResult";

/// The way between the store and a hostile engine.
pub(super) struct Faults {
    hostility: Hostility,
    /// The sessions of retryable writes that are not in use. Drivers have such sessions, too.
    implicit: Mutex<Vec<ImplicitSession>>,
}

/// A session of writes that name none.
struct ImplicitSession {
    id: RawDocumentBuf,
    number: i64,
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

    /// Runs a command, and once more if it fails and may be retried. `Retry::Write` needs a transaction number in the
    /// command.
    async fn run(
        &self,
        memory: &Memory,
        database: &str,
        command: RawDocumentBuf,
        retry: Retry,
    ) -> Result<RawDocumentBuf> {
        let targets: &[Target] = match retry {
            Retry::Never => &[Target::Once],
            Retry::Read | Retry::Write => &[Target::FirstTry, Target::Retry],
        };
        let labels: &[&str] = match retry {
            Retry::Write => &[RETRYABLE],
            Retry::Never | Retry::Read => &[],
        };
        let mut failure = None;
        for target in targets {
            let [before, after] = self.hostility.delays();
            wait(before).await;
            let Some(fault) = self.strike(*target) else {
                let reply = memory.run_waiting(database, command).await;
                wait(after).await;
                return reply;
            };
            if fault == Fault::LostReply {
                let lost: Result<_> = memory.run_waiting(database, command.clone()).await;
                drop(lost);
            }
            failure = Some(self.error(fault, retry == Retry::Read, labels));
        }
        Err(failure.unwrap_or_else(|| self.broken(labels)))
    }

    /// Runs a statement of a transaction. mongod aborts the transaction after a conflict and after the primary stepped
    /// down.
    async fn run_statement(
        &self,
        memory: &Memory,
        database: &str,
        mut command: RawDocumentBuf,
        session: &mut MemorySession,
    ) -> Result<RawDocumentBuf> {
        session.decorate(&mut command);
        let [before, after] = self.hostility.delays();
        wait(before).await;
        let Some(fault) = session.strike(self, writes(&command)) else {
            let reply = memory.run(database, command);
            wait(after).await;
            return reply;
        };
        match fault {
            Fault::LostRequest => {}
            Fault::LostReply => drop(memory.run(database, command)),
            Fault::NotPrimary | Fault::Conflict => session.abort_in_engine(),
        }
        Err(self.error(fault, false, &[TRANSIENT]))
    }

    /// Runs a commit, which is sent again whether or not other writes are.
    pub(super) async fn commit(&self, memory: &Memory, command: RawDocumentBuf) -> Result<()> {
        let labels = &[RETRYABLE, UNKNOWN_COMMIT];
        let mut failure = None;
        for target in [Target::FirstTry, Target::Retry] {
            let [before, after] = self.hostility.delays();
            wait(before).await;
            let Some(fault) = self.strike(target) else {
                let committed = memory.run("admin", command).map(drop);
                wait(after).await;
                return committed;
            };
            if fault == Fault::LostReply {
                drop(memory.run("admin", command.clone()));
            }
            failure = Some(self.error(fault, false, labels));
        }
        Err(failure.unwrap_or_else(|| self.broken(labels)))
    }

    /// The error that the caller of a failed command gets.
    fn error(&self, fault: Fault, reads: bool, labels: &[&str]) -> Error {
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

impl Memory {
    /// Runs a command of a hostile engine, in a session if one is given.
    pub(super) async fn run_on_faults(
        &self,
        faults: &Faults,
        database: &str,
        mut command: RawDocumentBuf,
        session: Option<&mut MemorySession>,
        retry: Retry,
    ) -> Result<RawDocumentBuf> {
        match session {
            Some(session) if session.in_transaction() => {
                faults.run_statement(self, database, command, session).await
            }
            Some(session) => {
                session.decorate(&mut command);
                if retry == Retry::Write {
                    command.append(cstr!("txnNumber"), session.next_number());
                }
                faults.run(self, database, command, retry).await
            }
            None if retry == Retry::Write => {
                let mut session = faults.implicit().pop().unwrap_or_else(|| ImplicitSession {
                    id: new_id(),
                    number: 0,
                });
                session.number += 1;
                command.append(cstr!("lsid"), &session.id);
                command.append(cstr!("txnNumber"), session.number);
                let reply = faults.run(self, database, command, retry).await;
                faults.implicit().push(session);
                reply
            }
            None => faults.run(self, database, command, retry).await,
        }
    }
}

/// Whether a command of a transaction writes.
fn writes(command: &RawDocument) -> bool {
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

async fn wait(delay: Option<Duration>) {
    if let Some(delay) = delay.filter(|_| has_timer()) {
        tokio::time::sleep(delay).await;
    }
}

/// Outside of a Tokio runtime there are no timers.
fn has_timer() -> bool {
    tokio::runtime::Handle::try_current().is_ok()
}
