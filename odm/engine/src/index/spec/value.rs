//! How values in specifications are read and formatted, and their errors.

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, print};

/// Formats a document as mongod's messages do.
pub(crate) fn show(document: &Document) -> String {
    RawDocumentBuf::try_from(document)
        .map(|raw| print::document(&raw))
        .unwrap_or_default()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "directions and seconds are small"
)]
pub(crate) fn number(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(value) => Some(f64::from(*value)),
        Bson::Int64(value) => Some(*value as f64),
        Bson::Double(value) => Some(*value),
        Bson::Decimal128(decimal) => {
            let value = decimal.to_string().parse().ok()?;
            // A decimal too small for a double is still not zero.
            let is_zero = decimal
                .to_string()
                .bytes()
                .take_while(|byte| *byte != b'E')
                .all(|byte| matches!(byte, b'0' | b'.' | b'-'));
            Some(if value == 0.0 && !is_zero {
                f64::MIN_POSITIVE
            } else {
                value
            })
        }
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
pub(crate) fn whole(value: f64) -> i64 {
    value as i64
}

pub(crate) fn refused(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::CANNOT_CREATE_INDEX, message)
}

pub(crate) fn type_of(value: &Bson) -> &'static str {
    bson_type::alias(value.element_type())
}

pub(crate) fn wrong_type(field: &str, expected: &str, value: &Bson) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "The field '{field}' must be {expected}, but got {}",
            type_of(value)
        ),
    )
}
