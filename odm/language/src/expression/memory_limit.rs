//! Limits on the size of values while a pipeline runs.

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{Code, ServerError};
use crate::expression::value::Value;
use crate::value::{print, raw::elements};

/// The memory limit of one operator or one group: mongod's 100 MB.
pub const LIMIT: usize = 100 * 1024 * 1024;

/// Strings have to be shorter than this.
const MAX_TEXT: usize = 16 * 1024 * 1024;

/// The longest string that mongod keeps within a value.
const SHORT_TEXT: usize = 14;

/// The largest document that a client or a collection receives.
pub const MAX_DOCUMENT: usize = 16 * 1024 * 1024 + 16 * 1024;

/// Refuses a string that is too long.
pub(super) fn check_text(length: usize) -> Result<(), ServerError> {
    if length < MAX_TEXT {
        return Ok(());
    }
    Err(ServerError::new(
        Code::location(16493),
        "Tried to create string longer than 16MB",
    ))
}

/// Refuses an array or a document of more than [`LIMIT`] bytes.
pub fn check(operator: &str, bytes: usize) -> Result<(), ServerError> {
    if bytes <= LIMIT {
        return Ok(());
    }
    Err(exceeded(&format!(
        "{operator} used too much memory and cannot spill to disk. Memory limit: {LIMIT} bytes"
    )))
}

/// The error for values that exceed the memory limit.
pub fn exceeded(message: &str) -> ServerError {
    ServerError::new(Code::EXCEEDED_MEMORY_LIMIT, message)
}

/// Refuses a result that is too large.
pub(super) fn check_value(operator: &str, value: &Value<'_>) -> Result<(), ServerError> {
    match value {
        Value::Owned(RawBson::String(text)) => check_text(text.len()),
        Value::Owned(RawBson::Array(array)) => check(operator, array.as_bytes().len()),
        Value::Owned(RawBson::Document(document)) => check(operator, document.as_bytes().len()),
        _ => Ok(()),
    }
}

/// Returns the document unless it is too large for a reply or a collection.
pub fn checked(document: RawDocumentBuf) -> Result<RawDocumentBuf, ServerError> {
    let size = document.as_bytes().len();
    if size <= MAX_DOCUMENT {
        return Ok(document);
    }
    Err(too_large(&document, MAX_DOCUMENT))
}

/// The error for a document of more than `limit` bytes.
pub fn too_large(document: &RawDocument, limit: usize) -> ServerError {
    let size = document.as_bytes().len();
    let first = elements(document)
        .next()
        .map(|(name, value)| print::field(name, value))
        .unwrap_or_default();
    ServerError::new(
        Code::BSON_OBJECT_TOO_LARGE,
        format!(
            "BSONObj size: {size} (0x{size:X}) is invalid. Size must be between 0 and {limit}(16MB) First element: {first}"
        ),
    )
}

/// The approximate size of a value beyond a fixed part, which holds short strings.
pub fn variable_size(value: RawBsonRef<'_>) -> usize {
    match value {
        RawBsonRef::String(text) if text.len() > SHORT_TEXT => text.len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Binary(binary) => binary.bytes.len(),
        _ => 0,
    }
}

/// The approximate size of a value.
pub fn size(value: &RawBson) -> usize {
    match value {
        RawBson::String(text) => text.len(),
        RawBson::Array(array) => array.as_bytes().len(),
        RawBson::Document(document) => document.as_bytes().len(),
        RawBson::Binary(binary) => binary.bytes.len(),
        _ => size_of::<RawBson>(),
    }
}
