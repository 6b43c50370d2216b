//! The closed set of what can go wrong; private, so that it can grow.

use std::fmt;

use super::declaration::DeclarationError;
use super::encode::EncodeError;
use super::usage::UsageError;
use super::{ServerError, ValidationFailure};

/// One variant for each file beside this one.
#[derive(Debug)]
pub(crate) enum Kind {
    Declaration(DeclarationError),
    Encode(EncodeError),
    Server(ServerError),
    Usage(UsageError),
    Validation(ValidationFailure),
}

impl Kind {
    /// The server's refusal, whichever kind it is kept in.
    pub(crate) fn server(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) => Some(error),
            Self::Validation(failure) => Some(failure.server()),
            _ => None,
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Encode(error) => error.source(),
            Self::Declaration(_) | Self::Server(_) | Self::Usage(_) | Self::Validation(_) => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declaration(error) => fmt::Display::fmt(error, f),
            Self::Encode(error) => fmt::Display::fmt(error, f),
            Self::Server(error) => fmt::Display::fmt(error, f),
            Self::Usage(error) => fmt::Display::fmt(error, f),
            Self::Validation(failure) => fmt::Display::fmt(failure, f),
        }
    }
}

impl From<ServerError> for Kind {
    fn from(error: ServerError) -> Self {
        // A refusal by a validator has a kind of its own as long as it says why.
        match ValidationFailure::from_server(&error) {
            Some(failure) => Self::Validation(failure),
            None => Self::Server(error),
        }
    }
}
