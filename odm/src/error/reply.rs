//! Replies that violate the protocol.

use std::fmt;

use super::{Error, Kind};

/// What the reply lacks.
#[derive(Debug)]
pub(crate) struct ReplyError(String);

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reply is malformed: {}", self.0)
    }
}

impl From<ReplyError> for Kind {
    fn from(error: ReplyError) -> Self {
        Self::Reply(error)
    }
}

impl Error {
    /// The error for a reply without `expected`.
    pub(crate) fn malformed_reply(expected: impl fmt::Display) -> Self {
        Self::new(ReplyError(format!("{expected} expected")))
    }
}
