//! Read preferences. Every valid one selects the engine's only node; invalid ones are refused.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::command::args::{truthy, type_name, whole};

/// The smallest `maxStalenessSeconds` that MongoDB accepts.
const STALENESS: i64 = 90;

pub(super) fn check(command: &RawDocument) -> Result<(), ServerError> {
    let preference = match raw::get(command, "$readPreference") {
        None => return Ok(()),
        Some(RawBsonRef::Document(preference)) => preference,
        Some(other) => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "$readPreference has incorrect type: expected object but got {}",
                    type_name(other.element_type())
                ),
            ));
        }
    };
    let mode = match raw::get(preference, "mode") {
        Some(RawBsonRef::String(mode)) => mode,
        Some(other) => return Err(wrong_type("mode", "string", other)),
        None => {
            return Err(ServerError::new(
                Code::NO_SUCH_KEY,
                "Missing expected field \"mode\"",
            ));
        }
    };
    let refuse = |message: String| Err(ServerError::new(Code::BAD_VALUE, message));
    if !matches!(
        mode,
        "primary" | "primaryPreferred" | "secondary" | "secondaryPreferred" | "nearest"
    ) {
        return refuse(format!(
            "Could not parse $readPreference mode '{mode}'. Only the modes 'primary', 'primaryPreferred', 'secondary', \
             'secondaryPreferred', and 'nearest' are supported. :: caused by :: Enumeration value '{mode}' for field \
             'mode' is not a valid value."
        ));
    }
    match raw::get(preference, "tags") {
        None => {}
        Some(RawBsonRef::Array(tags)) => {
            let is_any = raw::values(tags)
                .all(|tags| matches!(tags, RawBsonRef::Document(tags) if tags.is_empty()));
            if mode == "primary" && !is_any {
                return refuse(
                    "Only empty tags are allowed with primary read preference".to_owned(),
                );
            }
        }
        Some(other) => return Err(wrong_type("tags", "array", other)),
    }
    if let Some(seconds) = raw::get(preference, "maxStalenessSeconds").and_then(whole)
        && seconds > 0
    {
        if mode == "primary" {
            return refuse("maxStalenessSeconds can not be set for the primary mode".to_owned());
        }
        if seconds < STALENESS {
            return Err(ServerError::new(
                Code::MAX_STALENESS_OUT_OF_RANGE,
                format!("maxStalenessSeconds value can not be less than {STALENESS}"),
            ));
        }
    }
    let hedge = raw::get(preference, "hedge").and_then(RawBsonRef::as_document);
    let hedges = hedge.is_some_and(|hedge| raw::get(hedge, "enabled").is_none_or(truthy));
    if mode == "primary" && hedges {
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            "cannot enable hedging for $readPreference mode \"primaryOnly\"",
        ));
    }
    Ok(())
}

fn wrong_type(name: &str, expected: &str, found: RawBsonRef<'_>) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "\"{name}\" had the wrong type. Expected {expected}, found {}",
            type_name(found.element_type())
        ),
    )
}
