//! The closed set of what can go wrong; private, so that it can grow.

use std::fmt;

use super::ServerError;

/// One variant for each file beside this one.
#[derive(Debug)]
pub(crate) enum Kind {
    Server(ServerError),
}

impl Kind {
    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Server(_) => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl From<ServerError> for Kind {
    fn from(error: ServerError) -> Self {
        Self::Server(error)
    }
}
