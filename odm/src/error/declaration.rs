//! A declaration that can't be carried out: what a derive can't see, found before anything is sent.

use std::fmt;

use super::{Error, Kind};

/// What is wrong with the declaration, and what to write instead.
#[derive(Debug, Clone)]
pub(crate) struct DeclarationError(String);

impl DeclarationError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<DeclarationError> for Kind {
    fn from(error: DeclarationError) -> Self {
        Self::Declaration(error)
    }
}

impl Error {
    /// Whether what a model declares can't be carried out, such as a length for a number, a TTL
    /// index on what is not a date, or two models that claim one collection; nothing was sent.
    pub fn is_declaration(&self) -> bool {
        matches!(self.kind(), Kind::Declaration(_))
    }
}
