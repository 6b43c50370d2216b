//! The sizes of commands and documents that mongod and its driver refuse.

use bson::Bson;
use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::expression::memory::too_large;

use crate::error::{Error, Result, ServerError};
use crate::store::operation::Operation;

/// The largest document that can be stored.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;
/// The largest command: it may hold a document of that size and say what to do with it.
const MAX_COMMAND: usize = MAX_DOCUMENT + 16 * 1024;
/// Operands of this size fit a command, with all that it says besides.
pub(super) const ROOMY: usize = MAX_DOCUMENT;

/// Whether a command that looks for this one value is not too large. The engine has no short way for
/// larger values of other types.
pub(super) fn is_roomy(value: &Bson) -> bool {
    match value {
        Bson::String(text) => text.len() <= ROOMY,
        Bson::Binary(binary) => binary.bytes.len() <= ROOMY,
        _ => true,
    }
}

/// Refuses documents to insert that the driver does not send.
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

/// Refuses the command of an operation that is too large, here or in the driver.
pub(super) fn check(operation: &Operation, command: &RawDocument) -> Result<()> {
    match operation {
        // The driver sends documents to insert beside the command.
        Operation::InsertOne { document } => check_documents(std::slice::from_ref(document)),
        Operation::InsertMany { documents } => check_documents(documents),
        _ => Ok(check_command(command)?),
    }
}

/// Refuses a command that mongod can't read.
pub(super) fn check_command(command: &RawDocument) -> Result<(), ServerError> {
    if command.as_bytes().len() <= MAX_COMMAND {
        return Ok(());
    }
    Err(too_large(command, MAX_COMMAND))
}
