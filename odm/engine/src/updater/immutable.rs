//! The values that no operator may change: the `_id` of a document, and the order of the fields of a `DBRef`.

use std::borrow::Cow;

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::print;

use crate::updater::node::Node;
use crate::updater::operator::OperatorContext;

/// Whether a path is `_id` or below it.
pub(super) fn is_of_id(path: &str) -> bool {
    path.strip_prefix("_id")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a field's name is one of a `DBRef`.
pub(super) fn is_of_reference(name: &str) -> bool {
    matches!(name, "$ref" | "$id" | "$db")
}

/// Checks the order of the fields of a `DBRef`: `$ref`, `$id`, and optionally `$db`.
pub(super) fn check_reference(
    document: &[(Cow<'_, str>, Node<'_>)],
    at: usize,
) -> Result<(), ServerError> {
    let fault = |message: &str| Err(ServerError::new(Code::INVALID_DB_REF, message));
    let Some((name, node)) = document.get(at) else {
        return Ok(());
    };
    let beside = |place: Option<usize>| {
        let field = place.and_then(|place| document.get(place));
        field.map_or("", |(name, _)| name)
    };
    let before = at.checked_sub(1);
    match &**name {
        "$ref" | "$db" => node.with(|value| match value {
            RawBsonRef::String(_) => Ok(()),
            other => fault(&format!(
                "The DBRef {name} field must be a String, not a {}",
                messages::type_name(Some(other))
            )),
        })?,
        _ => {}
    }
    match &**name {
        "$ref" if beside(at.checked_add(1)) != "$id" => {
            fault("The DBRef $ref field must be followed by a $id field")
        }
        "$id" if beside(before) != "$ref" => {
            fault("Found $id field without a $ref before it, which is invalid.")
        }
        "$db" if beside(before) != "$id" => {
            fault("Found $db field without a $id before it, which is invalid.")
        }
        "$db" => before.map_or(Ok(()), |before| check_reference(document, before)),
        _ => Ok(()),
    }
}

/// The error for an update that adds to the `_id`.
pub(super) fn grown(at: &OperatorContext<'_>, node: &Node<'_>) -> ServerError {
    let shown = node.with(|value| print::field(at.name(), value));
    ServerError::new(
        Code::IMMUTABLE_FIELD,
        format!(
            "Updating the path '{}' to {shown} would modify the immutable field '_id'",
            at.path
        ),
    )
}

pub(super) fn immutable_id(path: &str) -> ServerError {
    ServerError::new(
        Code::IMMUTABLE_FIELD,
        format!("Performing an update on the path '{path}' would modify the immutable field '_id'"),
    )
}
