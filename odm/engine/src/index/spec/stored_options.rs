//! Options that only one kind of index uses but every index may have: their types and their stored form.

use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};

use crate::index::spec::value::{number, refused, show, type_of, wrong_type};

/// Returns an error if an option has the wrong type, for any kind of index.
pub(super) fn check(field: &str, value: &Bson) -> Result<(), ServerError> {
    let wanted = match field {
        "bits" | "min" | "max" | "2dsphereIndexVersion" | "textIndexVersion"
            if number(value).is_none() =>
        {
            "a number"
        }
        "default_language" | "language_override" if !matches!(value, Bson::String(_)) => "a string",
        "weights" if !matches!(value, Bson::Document(_) | Bson::Array(_) | Bson::String(_)) => {
            "an object"
        }
        _ => return Ok(()),
    };
    Err(wrong_type(field, wanted, value))
}

/// The stored form of a value.
pub(super) fn stored(field: &str, value: &Bson) -> Bson {
    match field {
        "bits"
        | "2dsphereIndexVersion"
        | "textIndexVersion"
        | "coarsestIndexedLevel"
        | "finestIndexedLevel"
        | "expireAfterSeconds" => int(value).map(Bson::Int32),
        "min" | "max" => double(value).map(Bson::Double),
        _ => None,
    }
    .unwrap_or_else(|| value.clone())
}

/// The number as an integer, converted as mongod does: doubles are truncated, decimals are rounded, large numbers
/// saturate, and NaN becomes 0.
#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
pub(in crate::index) fn int(value: &Bson) -> Option<i32> {
    Some(rounded(value)? as i32)
}

/// The number without its fraction.
fn rounded(value: &Bson) -> Option<f64> {
    let number = real(value)?;
    Some(match value {
        Bson::Decimal128(_) => number.round_ties_even(),
        _ => number.trunc(),
    })
}

/// The number. A decimal that is too small for a double becomes zero.
fn real(value: &Bson) -> Option<f64> {
    match value {
        Bson::Decimal128(decimal) => decimal.to_string().parse().ok(),
        value => number(value),
    }
}

/// The number as an integer, if it is whole and fits 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and fits")]
pub(in crate::index) fn whole(value: &Bson) -> Option<i64> {
    /// The first number that does not fit.
    const END: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Bson::Int64(value) => Some(*value),
        value => real(value)
            .filter(|number| number.fract() == 0.0 && (-END..END).contains(number))
            .map(|number| number as i64),
    }
}

/// The number as a double, converted as mongod does: 64-bit integers are limited to the range that doubles represent
/// exactly, decimals to the positive finite doubles, and NaN becomes 0.
fn double(value: &Bson) -> Option<f64> {
    /// The last of the consecutive integers that a double represents exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = real(value)?;
    Some(match value {
        _ if number.is_nan() => 0.0,
        Bson::Decimal128(_) => number.clamp(f64::MIN_POSITIVE, f64::MAX),
        Bson::Int64(_) => number.clamp(-EXACT, EXACT),
        _ => number,
    })
}

/// The version of an index; `None` if it is not an integer.
pub(super) fn version(value: &Bson) -> Option<i32> {
    let version = int(value)?;
    (real(value) == Some(f64::from(version))).then_some(version)
}

/// Checks `storageEngine`: a document with options for the only registered engine, `wiredTiger`.
pub(super) fn check_engines(value: &Bson) -> Result<(), ServerError> {
    let Bson::Document(engines) = value else {
        return Err(refused(
            "\"storageEngine\" options must be a document if present",
        ));
    };
    if engines.is_empty() {
        return Err(refused(
            "Empty \"storageEngine\" options are invalid. Please remove the field or include valid options.",
        ));
    }
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

/// Returns an error if `expireAfterSeconds` is invalid or the index is compound.
pub(super) fn check_expiry(given: &Document, key: &Document) -> Result<(), ServerError> {
    let Some(value) = given.get("expireAfterSeconds") else {
        return Ok(());
    };
    let fault = match rounded(value) {
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
