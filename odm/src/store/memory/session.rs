//! Sessions of the in-memory engine: the fields that a driver would add to each command.

use bson::raw::{RawDocumentBuf, cstr};
use bson::{Binary, rawdoc, spec::BinarySubtype};

use crate::error::{Error, Result};
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
}

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
        let id = Binary {
            subtype: BinarySubtype::Uuid,
            bytes: bson::Uuid::new().bytes().to_vec(),
        };
        Self {
            memory,
            id: rawdoc! { "id": id },
            number: 0,
            state: State::None,
        }
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
        self.state = State::Starting(options);
        Ok(())
    }

    pub(crate) fn commit(&mut self) -> Result<()> {
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
                let result = self.end(rawdoc! { "commitTransaction": 1 }, &options);
                self.state = State::Committed(Some(options));
                result
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
                let _: Result<()> = self.end(rawdoc! { "abortTransaction": 1 }, &options);
                Ok(())
            }
        }
    }

    fn end(&self, mut command: RawDocumentBuf, options: &TransactionOptions) -> Result<()> {
        command.append(cstr!("lsid"), &self.id);
        command.append(cstr!("txnNumber"), self.number);
        command.append(cstr!("autocommit"), false);
        if let Some(time) = options.max_commit_time
            && let Ok(time) = bson::raw::RawBson::try_from(millis(time))
        {
            command.append(cstr!("maxTimeMS"), time);
        }
        self.memory.run("admin", command).map(drop)
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        if let State::InProgress(_) = self.state {
            let _: Result<()> = self.abort();
        }
    }
}

fn nothing_started() -> Error {
    Error::usage(misuse::NOTHING_STARTED)
}
