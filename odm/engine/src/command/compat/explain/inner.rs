//! Checks of an explained command, beside those of its own fields.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

/// Refuses an inner `$db` other than the command's.
pub(super) fn check_database(inner: &RawDocument, database: &str) -> Result<(), ServerError> {
    match raw::get(inner, "$db") {
        None => Ok(()),
        Some(RawBsonRef::String(given)) if given == database => Ok(()),
        Some(RawBsonRef::String(given)) => Err(ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("Mismatched $db in explain command. Expected {database} but got {given}"),
        )),
        Some(other) => Err(ServerError::new(
            Code::location(13111),
            format!(
                "wrong type for field ($db) {} != string",
                bson_type::alias(other.element_type())
            ),
        )),
    }
}
