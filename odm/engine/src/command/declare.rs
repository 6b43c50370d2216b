//! The rows of the command table.

use bson::raw::RawDocumentBuf;
use odm_language::error::ServerError;

use crate::command::args::Field;
use crate::command::compat::explain::explained::Explained;
use crate::command::generic_arguments::{InTransaction, Rules};
use crate::command::invocation::Invocation;

/// A command: its name, its fields, and the function that runs it.
#[derive(Debug)]
pub struct Command {
    pub name: &'static str,
    /// The name that precedes its fields in error messages.
    pub(crate) idl: &'static str,
    pub fields: &'static [Field],
    /// The meaning of the command's first value.
    pub(crate) target: CommandTarget,
    pub(crate) transaction: InTransaction,
    /// Whether a `txnNumber` outside of a transaction makes the command a retryable write.
    pub(crate) retryable: bool,
    /// Whether the command takes a write concern.
    pub(crate) writes: bool,
    pub(crate) run: fn(&mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError>,
    /// Explains the command; `None` if `explain` refuses it.
    pub(crate) explain: Option<Explain>,
}

pub(crate) type Explain =
    fn(&mut Invocation<'_>, &Explained<'_>) -> Result<RawDocumentBuf, ServerError>;

impl Command {
    /// The general fields that the command accepts beside its own.
    pub(crate) const fn rules(&self) -> Rules {
        Rules {
            name: self.name,
            transaction: self.transaction,
            retryable: self.retryable,
            writes: self.writes,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    /// The command applies to the database, or interprets the value itself.
    Database,
    /// The value names a collection.
    Collection,
}
