//! Sessions of the in-memory engine: the fields that a driver would add to each command.

use std::future::ready;

use bson::raw::{RawDocumentBuf, cstr};
use bson::rawdoc;

use odm_engine::{Fault, TRANSIENT, Target};

use crate::error::{Error, Result};
use crate::store::memory::faults::{Faults, new_id, wait, writes};
use crate::store::memory::retry::Retry;
use crate::store::memory::{Memory, check_write_concern};
use crate::store::misuse;
use crate::store::options::millis;
use crate::store::session::TransactionOptions;

/// A session with the engine, and the state of its transaction.
#[derive(Debug)]
pub(crate) struct MemorySession {
    pub(crate) memory: Memory,
    id: RawDocumentBuf,
    number: i64,
    state: State,
    /// Whether the current transaction runs again after a transient error.
    is_retried: bool,
    /// Whether a commit was sent whose reply did not arrive.
    is_unacknowledged: bool,
    /// How many transactions a hostile engine made fail one after the other, and whether the current one is among them.
    failed: u8,
    has_failed: bool,
}

/// At most this many transactions of a session fail one after the other.
const MOST_FAILED: u8 = 2;

/// The transaction states of MongoDB's driver specification.
#[derive(Debug)]
enum State {
    None,
    /// Started, but the engine has received no command of it yet.
    Starting(TransactionOptions),
    InProgress(TransactionOptions),
    /// Has the options if the engine committed anything.
    Committed(Option<TransactionOptions>),
    Aborted,
}

impl MemorySession {
    pub(crate) fn new(memory: Memory) -> Self {
        Self {
            memory,
            id: new_id(),
            number: 0,
            state: State::None,
            is_retried: false,
            is_unacknowledged: false,
            failed: 0,
            has_failed: false,
        }
    }

    /// The number of the next retryable write.
    pub(super) fn next_number(&mut self) -> i64 {
        self.number += 1;
        self.number
    }

    /// Says that the current transaction runs again after a transient error.
    pub(crate) fn expect_retries(&mut self) {
        self.is_retried = true;
    }

    /// The fault of the next statement of the transaction, if it fails.
    fn strike(&mut self, faults: &Faults, writes: bool) -> Option<Fault> {
        if self.has_failed || self.failed >= MOST_FAILED {
            return None;
        }
        let is_retried = self.is_retried;
        let fault = faults.strike(Target::Statement { writes, is_retried })?;
        self.has_failed = true;
        self.failed += 1;
        Some(fault)
    }

    /// Runs a statement of a transaction of a hostile engine. mongod aborts the transaction after a conflict and after
    /// the primary stepped down.
    pub(super) async fn run_statement(
        &mut self,
        faults: &Faults,
        database: &str,
        mut command: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        self.decorate(&mut command);
        let [before, after] = faults.delays();
        wait(before).await;
        let Some(fault) = self.strike(faults, writes(&command)) else {
            let reply = self.memory.run(database, command);
            wait(after).await;
            return reply;
        };
        match fault {
            Fault::LostRequest => {}
            Fault::LostReply => drop(self.memory.run(database, command)),
            Fault::NotPrimary | Fault::Conflict => self.abort_in_engine(),
        }
        Err(faults.error(fault, false, &[TRANSIENT]))
    }

    /// Aborts the transaction as mongod does by itself: the session still has to end it.
    fn abort_in_engine(&self) {
        let abort = rawdoc! { "abortTransaction": 1 };
        // The engine knows no transaction before its first statement.
        drop(self.memory.run("admin", self.ending(abort)));
    }

    pub(crate) fn in_transaction(&self) -> bool {
        matches!(self.state, State::Starting(_) | State::InProgress(_))
    }

    /// Adds the session's fields to a command that is about to run.
    pub(crate) fn decorate(&mut self, command: &mut RawDocumentBuf) {
        self.append_fields(command);
        match std::mem::replace(&mut self.state, State::None) {
            State::Starting(options) => {
                command.append(cstr!("startTransaction"), true);
                if let Some(concern) = options.read_concern {
                    command.append(cstr!("readConcern"), rawdoc! { "level": concern.level() });
                }
                self.state = State::InProgress(options);
            }
            State::InProgress(options) => self.state = State::InProgress(options),
            // An operation outside of transactions resets the state.
            State::None | State::Committed(_) | State::Aborted => {}
        }
    }

    /// Appends the fields that every command of the session has, including `getMore`.
    pub(crate) fn append_fields(&self, command: &mut RawDocumentBuf) {
        command.append(cstr!("lsid"), &self.id);
        if self.in_transaction() {
            command.append(cstr!("txnNumber"), self.number);
            command.append(cstr!("autocommit"), false);
        }
    }

    pub(crate) fn start(&mut self, options: TransactionOptions) -> Result<()> {
        if self.in_transaction() {
            return Err(Error::usage(misuse::UNDER_WAY));
        }
        if let Some(concern) = &options.write_concern {
            check_write_concern(concern)?;
        }
        self.number += 1;
        if !self.has_failed {
            self.failed = 0;
        }
        self.has_failed = false;
        self.is_retried = false;
        self.is_unacknowledged = false;
        self.state = State::Starting(options);
        Ok(())
    }

    pub(crate) async fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::None) {
            State::None => Err(nothing_started()),
            State::Aborted => {
                self.state = State::Aborted;
                Err(Error::usage(misuse::COMMIT_ABORTED))
            }
            State::Starting(_) | State::Committed(None) => {
                self.state = State::Committed(None);
                Ok(())
            }
            State::InProgress(options) | State::Committed(Some(options)) => {
                let mut command = self.ending(rawdoc! { "commitTransaction": 1 });
                limit(&mut command, &options);
                // A caller that stops waiting may send the commit again.
                self.state = State::Committed(Some(options));
                self.is_unacknowledged = true;
                let committed = match self.memory.faults() {
                    Some(faults) => {
                        let memory = &self.memory;
                        let send = |command| ready(memory.run("admin", command));
                        let sent = faults.send(command, Retry::Commit, send);
                        sent.await.map(drop)
                    }
                    None => self.memory.run("admin", command).map(drop),
                };
                self.is_unacknowledged =
                    matches!(&committed, Err(error) if error.server().is_none());
                committed
            }
        }
    }

    pub(crate) fn abort(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, State::Aborted) {
            State::None => {
                self.state = State::None;
                Err(nothing_started())
            }
            State::Aborted => Err(Error::usage(misuse::ABORT_TWICE)),
            State::Committed(options) => {
                self.state = State::Committed(options);
                Err(Error::usage(misuse::ABORT_COMMITTED))
            }
            State::Starting(_) => Ok(()),
            State::InProgress(options) => {
                // Drivers ignore errors of `abortTransaction`, too: the engine ends the transaction either way.
                let mut command = self.ending(rawdoc! { "abortTransaction": 1 });
                limit(&mut command, &options);
                drop(self.memory.run("admin", command));
                Ok(())
            }
        }
    }

    /// A command that ends the transaction.
    fn ending(&self, mut command: RawDocumentBuf) -> RawDocumentBuf {
        command.append(cstr!("lsid"), &self.id);
        command.append(cstr!("txnNumber"), self.number);
        command.append(cstr!("autocommit"), false);
        command
    }
}

/// Limits the time of a command that ends a transaction.
fn limit(command: &mut RawDocumentBuf, options: &TransactionOptions) {
    if let Some(time) = options.max_commit_time
        && let Ok(time) = bson::raw::RawBson::try_from(millis(time))
    {
        command.append(cstr!("maxTimeMS"), time);
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        if let State::InProgress(_) = self.state {
            drop(self.abort());
        } else if self.is_unacknowledged {
            // Nobody can send the commit again, and an open transaction would block others until it expires.
            self.abort_in_engine();
        }
    }
}

fn nothing_started() -> Error {
    Error::usage(misuse::NOTHING_STARTED)
}
