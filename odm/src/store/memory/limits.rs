//! The size limits for commands and documents in mongod and its driver.

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::expression::memory_limit::too_large;

use crate::error::{Error, Result, ServerError};
use crate::store::operation::Operation;

/// The maximum size of a stored document.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;
/// The maximum size of a command: a document of maximum size and the command's other fields.
const MAX_COMMAND: usize = MAX_DOCUMENT + 16 * 1024;
/// Operands up to this size fit into a command with its other fields.
pub(super) const ROOMY: usize = MAX_DOCUMENT;

/// Refuses documents that are too large for the driver to insert.
pub(super) fn check_documents(documents: &[RawDocumentBuf]) -> Result<()> {
    let sizes = documents.iter().map(|document| document.as_bytes().len());
    let mut too_large = sizes.filter(|size| *size > MAX_DOCUMENT);
    match too_large.next() {
        None => Ok(()),
        Some(size) => Err(Error::usage(format!(
            "insert document must be within {MAX_DOCUMENT} bytes, but document provided is {size} \
             bytes"
        ))),
    }
}

/// Refuses operations whose command or documents are too large.
pub(super) fn check(operation: &Operation, command: &RawDocument) -> Result<()> {
    match operation {
        // The driver sends inserted documents outside of the command document.
        Operation::InsertOne { document } => check_documents(std::slice::from_ref(document)),
        Operation::InsertMany { documents } => check_documents(documents),
        _ => Ok(check_command(command)?),
    }
}

/// Refuses commands that are too large for mongod.
pub(super) fn check_command(command: &RawDocument) -> Result<(), ServerError> {
    if command.as_bytes().len() <= MAX_COMMAND {
        return Ok(());
    }
    Err(too_large(command, MAX_COMMAND))
}
