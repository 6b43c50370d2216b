//! The options that one kind of index reads and every index keeps: their types, and the form in which they are stored.

use bson::{Bson, Document};

use crate::engine::index::spec::{number, refused, show, type_of, wrong_type};
use crate::error::{Code, ServerError};

/// Refuses a value of another type than the option has, whatever kind of index it is given to.
pub(super) fn check(field: &str, value: &Bson) -> Result<(), ServerError> {
    let wanted = match field {
        "bits" | "min" | "max" | "2dsphereIndexVersion" | "textIndexVersion"
            if number(value).is_none() =>
        {
            "a number"
        }
        "default_language" | "language_override" if !matches!(value, Bson::String(_)) => "a string",
        "weights" if !matches!(value, Bson::Document(_) | Bson::String(_)) => "an object",
        _ => return Ok(()),
    };
    Err(wrong_type(field, wanted, value))
}

/// The value as it is kept.
pub(super) fn stored(field: &str, value: &Bson) -> Bson {
    match field {
        "bits"
        | "2dsphereIndexVersion"
        | "textIndexVersion"
        | "coarsestIndexedLevel"
        | "finestIndexedLevel" => int(value).map(Bson::Int32),
        "min" | "max" => number(value).map(Bson::Double),
        _ => None,
    }
    .unwrap_or_else(|| value.clone())
}

/// The number as an integer, as a server makes it one: doubles lose their fraction, decimals are rounded, what is too
/// large becomes the largest, and what is not a number zero.
#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
pub(in crate::engine::index) fn int(value: &Bson) -> Option<i32> {
    let number = number(value)?;
    Some(if matches!(value, Bson::Decimal128(_)) {
        number.round_ties_even() as i32
    } else {
        number as i32
    })
}

/// The version of an index, `None` where it is no integer.
pub(super) fn version(value: &Bson) -> Option<i32> {
    let version = int(value)?;
    (number(value) == Some(f64::from(version))).then_some(version)
}

/// What a storage engine is told is a document, and there is one engine that can be told.
pub(super) fn check_engines(value: &Bson) -> Result<(), ServerError> {
    let engines = value.as_document().into_iter().flat_map(Document::iter);
    for (name, options) in engines {
        if !matches!(options, Bson::Document(_)) {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                format!("'storageEngine.{name}' has to be an embedded document."),
            ));
        }
        if name != "wiredTiger" {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                format!("{name} is not a registered storage engine for this server"),
            ));
        }
    }
    Ok(())
}

/// Refuses an `expireAfterSeconds` that is no time, or is of an index that can't expire.
pub(super) fn check_expiry(given: &Document, key: &Document) -> Result<(), ServerError> {
    let Some(value) = given.get("expireAfterSeconds") else {
        return Ok(());
    };
    let fault = match number(value) {
        None => format!(
            "TTL index 'expireAfterSeconds' option must be numeric, but received a type of '{}'",
            type_of(value)
        ),
        Some(seconds) if seconds < 0.0 => {
            "TTL index 'expireAfterSeconds' option cannot be less than 0".to_owned()
        }
        Some(seconds) if seconds > f64::from(i32::MAX) => {
            "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number"
                .to_owned()
        }
        Some(_) if key.len() > 1 => {
            "TTL indexes are single-field indexes, compound indexes do not support TTL".to_owned()
        }
        Some(_) => return Ok(()),
    };
    Err(refused(format!("{fault}. Index spec: {}", show(given))))
}
