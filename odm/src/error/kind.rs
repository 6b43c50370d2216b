//! The kinds of errors; private, so that kinds can be added.

use std::fmt;

use super::other::OtherError;
use super::page_token::PageTokenError;
use super::reply::ReplyError;
use super::{
    BulkError, ConfigError, ConnectionError, DeadlineError, DeclarationError, DecodeError,
    EncodeError, FileError, GridFsError, OutdatedPlanError, PositionError, ReferenceError,
    SchemaError, ServerError, StaleError, SummaryError, TreeError, UnsupportedError, UsageError,
    ValidationFailure, WithheldError,
};

/// The kind of an error: one variant for each file in this folder.
#[derive(Debug)]
pub(crate) enum Kind {
    Bulk(BulkError),
    Config(ConfigError),
    Connection(ConnectionError),
    Deadline(DeadlineError),
    Declaration(DeclarationError),
    Decode(DecodeError),
    Encode(EncodeError),
    File(FileError),
    GridFs(GridFsError),
    Other(OtherError),
    OutdatedPlan(OutdatedPlanError),
    PageToken(PageTokenError),
    Position(PositionError),
    Reference(ReferenceError),
    Reply(ReplyError),
    Schema(SchemaError),
    Server(ServerError),
    Stale(StaleError),
    Summary(SummaryError),
    Tree(TreeError),
    Unsupported(UnsupportedError),
    Usage(UsageError),
    Validation(ValidationFailure),
    Withheld(WithheldError),
}

impl Kind {
    /// The server's error, in whichever kind it is stored.
    pub(crate) fn server(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) => Some(error),
            Self::Validation(failure) => Some(failure.server()),
            Self::Bulk(error) => error.first(),
            _ => None,
        }
    }

    /// The error labels of the server or the driver.
    pub(crate) fn labels(&self) -> &[String] {
        match self {
            Self::Bulk(error) => error.labels(),
            Self::Connection(error) => error.labels(),
            kind => kind.server().map_or(&[], ServerError::labels),
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connection(error) => error.source(),
            Self::Decode(error) => error.source(),
            Self::Encode(error) => error.source(),
            Self::File(error) => error.source(),
            Self::Other(error) => error.source(),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bulk(error) => fmt::Display::fmt(error, f),
            Self::Config(error) => fmt::Display::fmt(error, f),
            Self::Connection(error) => fmt::Display::fmt(error, f),
            Self::Deadline(error) => fmt::Display::fmt(error, f),
            Self::Declaration(error) => fmt::Display::fmt(error, f),
            Self::Decode(error) => fmt::Display::fmt(error, f),
            Self::Encode(error) => fmt::Display::fmt(error, f),
            Self::File(error) => fmt::Display::fmt(error, f),
            Self::GridFs(error) => fmt::Display::fmt(error, f),
            Self::Other(error) => fmt::Display::fmt(error, f),
            Self::OutdatedPlan(error) => fmt::Display::fmt(error, f),
            Self::PageToken(error) => fmt::Display::fmt(error, f),
            Self::Position(error) => fmt::Display::fmt(error, f),
            Self::Reply(error) => fmt::Display::fmt(error, f),
            Self::Schema(error) => fmt::Display::fmt(error, f),
            Self::Server(error) => fmt::Display::fmt(error, f),
            Self::Reference(error) => fmt::Display::fmt(error, f),
            Self::Stale(error) => fmt::Display::fmt(error, f),
            Self::Summary(error) => fmt::Display::fmt(error, f),
            Self::Tree(error) => fmt::Display::fmt(error, f),
            Self::Unsupported(error) => fmt::Display::fmt(error, f),
            Self::Usage(error) => fmt::Display::fmt(error, f),
            Self::Validation(error) => fmt::Display::fmt(error, f),
            Self::Withheld(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl From<ServerError> for Kind {
    fn from(error: ServerError) -> Self {
        // A validator's error has its own kind only if it contains the reasons.
        match ValidationFailure::from_server(&error) {
            Some(failure) => Self::Validation(failure),
            None => Self::Server(error),
        }
    }
}
