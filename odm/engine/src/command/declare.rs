//! What a row of the table of commands is.

use bson::raw::RawDocumentBuf;
use odm_language::error::ServerError;

use crate::command::args::Field;
use crate::command::call::Call;
use crate::command::explain::explained::Explained;
use crate::command::general::{InTransaction, Rules};

/// A command: how it is called, what it takes, what runs it.
#[derive(Debug)]
pub struct Command {
    pub name: &'static str,
    /// The name before its fields in messages.
    pub(crate) idl: &'static str,
    pub fields: &'static [Field],
    /// What the value of the command's own name is.
    pub(crate) target: Target,
    pub(crate) transaction: InTransaction,
    /// A `txnNumber` outside of a transaction asks for it to be executed once.
    pub(crate) retryable: bool,
    /// It takes a write concern.
    pub(crate) writes: bool,
    pub(crate) run: fn(&mut Call<'_>) -> Result<RawDocumentBuf, ServerError>,
    /// Explains it; `None` where `explain` refuses the command.
    pub(crate) explain: Option<Explain>,
}

pub(crate) type Explain = fn(&mut Call<'_>, &Explained<'_>) -> Result<RawDocumentBuf, ServerError>;

impl Command {
    /// What may be said to it besides its own fields.
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
pub(crate) enum Target {
    /// The command is for the database, or reads its value itself.
    Database,
    /// The value names a collection.
    Collection,
}
