//! Sessions, multi-document transactions, retryable writes, and the writer through which all documents are written.
//!
//! A transaction is a snapshot, a working copy of it, and the records and unique keys that it has locked. The first
//! writer of a record wins; the second one, inside a transaction or not, gets a `WriteConflict` error.
//!
//! This module parses no commands and reads no clock.

pub(crate) mod lsid;
pub(crate) mod session;
pub(crate) mod snapshot;
pub(crate) mod transaction;
pub(crate) mod writer;

use odm_language::error::{Code, ServerError};

use crate::catalog::namespace::Namespace;

/// The label of errors after which the whole transaction may be tried again.
pub const TRANSIENT: &str = "TransientTransactionError";

/// MongoDB's error for a write that conflicts with another.
pub(crate) fn write_conflict() -> ServerError {
    ServerError::new(
        Code::WRITE_CONFLICT,
        "WriteConflict error: this operation conflicted with another operation. Please retry your operation or \
         multi-document transaction.",
    )
}

/// The error for a collection whose definition changed since the transaction began.
pub(crate) fn changed_catalog(namespace: &Namespace) -> ServerError {
    ServerError::new(
        Code::SNAPSHOT_UNAVAILABLE,
        format!(
            "Unable to read from a snapshot due to pending collection catalog changes; please retry the operation. \
             Collection: {namespace}"
        ),
    )
}
