//! The limits of stored documents.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{compat::messages, memory_limit};
use odm_language::value::raw;

use crate::updater::node::{append, fields};

const MAX_DEPTH: usize = 180;
const MAX_SIZE: usize = 16 * 1024 * 1024;
/// Above this size, mongod cannot hold the document to report the regular error.
const MAX_INTERNAL_SIZE: usize = MAX_SIZE + 16 * 1024;

/// Checks the size and the `_id` of an updated document, and its depth if `nests` is true.
pub(super) fn check(document: &RawDocument, nests: bool) -> Result<(), ServerError> {
    let size = document.as_bytes().len();
    if size > MAX_INTERNAL_SIZE {
        return Err(memory_limit::too_large(document, MAX_INTERNAL_SIZE));
    }
    if size > MAX_SIZE {
        return Err(ServerError::new(
            Code::location(17419),
            format!("Resulting document after update is larger than {MAX_SIZE}"),
        ));
    }
    if let Some(id) = raw::get(document, "_id") {
        check_id(id)?;
    }
    if nests && raw::walk(document).is_deeper(MAX_DEPTH) {
        return Err(ServerError::new(
            Code::OVERFLOW,
            format!("Document exceeds maximum nesting depth of {MAX_DEPTH}"),
        ));
    }
    Ok(())
}

/// The error for an `_id` that became an array.
pub(super) fn array_id(immutable: &str) -> ServerError {
    ServerError::new(
        Code::NOT_SINGLE_VALUE_FIELD,
        format!(
            "After applying the update to the document, the {immutable}field '_id' was found to be an array or array descendant."
        ),
    )
}

/// Checks the size of a document to insert, and its depth if `nests` is true.
pub(crate) fn check_insert(document: &RawDocument, nests: bool) -> Result<(), ServerError> {
    let size = document.as_bytes().len();
    if size > MAX_SIZE {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            format!("object to insert too large. size in bytes: {size}, max size: {MAX_SIZE}"),
        ));
    }
    if nests && raw::walk(document).is_deeper(MAX_DEPTH) {
        return Err(ServerError::new(
            Code::OVERFLOW,
            format!("cannot insert document because it exceeds {MAX_DEPTH} levels of nesting"),
        ));
    }
    Ok(())
}

/// Returns an error if the value cannot be an `_id`.
pub(crate) fn check_id(id: RawBsonRef<'_>) -> Result<(), ServerError> {
    match id {
        RawBsonRef::Array(_) | RawBsonRef::RegularExpression(_) | RawBsonRef::Undefined => {
            Err(ServerError::new(
                Code::INVALID_ID_FIELD,
                format!(
                    "The '_id' value cannot be of type {}",
                    messages::type_name(Some(id))
                ),
            ))
        }
        RawBsonRef::Document(document) => match dollar_prefixed(document) {
            Some(name) => Err(ServerError::new(
                Code::DOLLAR_PREFIXED_FIELD_NAME,
                format!(
                    "_id fields may not contain '$'-prefixed fields: {name} is not valid for storage."
                ),
            )),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn dollar_prefixed(document: &RawDocument) -> Option<&str> {
    fields(document).find_map(|(name, value)| match value {
        _ if name.starts_with('$') => Some(name),
        RawBsonRef::Document(below) => dollar_prefixed(below),
        _ => None,
    })
}

/// Moves the `_id` to the front of an inserted document.
pub(super) fn id_first(document: RawDocumentBuf) -> RawDocumentBuf {
    let at = fields(&document).position(|(name, _)| name == "_id");
    if matches!(at, None | Some(0)) {
        return document;
    }
    let mut moved = RawDocumentBuf::new();
    let is_id = |(name, _): &(&str, RawBsonRef<'_>)| *name == "_id";
    for (name, value) in fields(&document).filter(is_id) {
        append(&mut moved, name, value);
    }
    for (name, value) in fields(&document).filter(|field| !is_id(field)) {
        append(&mut moved, name, value);
    }
    moved
}
