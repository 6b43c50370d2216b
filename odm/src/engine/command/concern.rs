//! Read and write concern, read preference: on one node that keeps everything in memory, each that can be met is met.

use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::command::args::{is_empty_document, type_name, wrong_type};
use crate::engine::command::table::Command;
use crate::engine::txn::session::Mode;
use crate::error::{Code, ServerError};
use crate::value::raw;

/// Refuses what is malformed, unknown, or cannot be met.
pub(crate) fn check(row: &Command, command: &RawDocument, mode: &Mode) -> Result<(), ServerError> {
    if let Some(concern) = raw::get(command, "readConcern") {
        check_read(concern, mode)?;
        if let Some(why) = unsupported(row, command, concern) {
            let level = crate::value::print::value(concern_level(concern));
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                format!(
                    "Command {} does not support {{ readConcern: {{ level: {level}, provenance: \"clientSupplied\" }} }} :: \
                     caused by :: {why}",
                    row.name
                ),
            ));
        }
    }
    if let Some(concern) = raw::get(command, "writeConcern") {
        check_write(row, concern, mode)?;
    }
    match raw::get(command, "$readPreference") {
        None | Some(RawBsonRef::Document(_)) => {}
        Some(other) => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "$readPreference has incorrect type: expected object but got {}",
                    type_name(other.element_type())
                ),
            ));
        }
    }
    match raw::get(command, "maxTimeMS").map(|value| (value, super::args::whole(value))) {
        None => Ok(()),
        Some((RawBsonRef::Double(millis), _)) if millis.fract() != 0.0 => Err(ServerError::new(
            Code::BAD_VALUE,
            "maxTimeMS has non-integral value",
        )),
        Some((_, Some(millis))) if (0..=i64::from(i32::MAX)).contains(&millis) => Ok(()),
        Some((value, Some(_))) => Err(ServerError::new(
            Code::BAD_VALUE,
            format!(
                "{} value for maxTimeMS is out of range [0, 2147483647]",
                crate::value::print::value(value)
            ),
        )),
        Some((_, None)) => Err(ServerError::new(
            Code::BAD_VALUE,
            "maxTimeMS must be a number",
        )),
    }
}

fn concern_level(concern: RawBsonRef<'_>) -> RawBsonRef<'_> {
    match concern {
        RawBsonRef::Document(concern) => raw::get(concern, "level").unwrap_or(RawBsonRef::Null),
        _ => RawBsonRef::Null,
    }
}

/// Why the command can't run at the level, which others can.
fn unsupported(
    row: &Command,
    command: &RawDocument,
    concern: RawBsonRef<'_>,
) -> Option<&'static str> {
    let RawBsonRef::String(level) = concern_level(concern) else {
        return None;
    };
    match (row.name, level) {
        ("count", "snapshot") => Some("read concern snapshot not supported"),
        ("aggregate", "linearizable") => {
            let Some(RawBsonRef::Array(stages)) = raw::get(command, "pipeline") else {
                return None;
            };
            let Some(RawBsonRef::Document(last)) = raw::values(stages).last() else {
                return None;
            };
            let (name, _) = raw::elements(last).next()?;
            (name == "$out")
                .then_some("$out cannot be used with a 'linearizable' read concern level")
        }
        _ => None,
    }
}

fn check_read(concern: RawBsonRef<'_>, mode: &Mode) -> Result<(), ServerError> {
    let RawBsonRef::Document(concern) = concern else {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "readConcern field should be an object",
        ));
    };
    let level = match raw::get(concern, "level") {
        None => None,
        Some(RawBsonRef::String(level)) => Some(level),
        Some(other) => {
            return Err(wrong_type("readConcern.level", other, "type 'string'"));
        }
    };
    if let Some((name, _)) = raw::elements(concern).find(|(name, _)| {
        !matches!(
            *name,
            "level" | "afterClusterTime" | "provenance" | "atClusterTime" | "afterOpTime"
        )
    }) {
        return Err(super::args::unknown("readConcern", name));
    }
    if raw::get(concern, "atClusterTime").is_some() {
        return Err(super::args::unsupported("readConcern.atClusterTime"));
    }
    if let Mode::Transaction { start, .. } = mode {
        if !start && !is_empty_document(concern) {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                "Only the first command in a transaction may specify a readConcern",
            ));
        }
        if !matches!(level, None | Some("local" | "majority" | "snapshot")) {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a \
                 transaction",
            ));
        }
    }
    match level {
        None | Some("local" | "available" | "majority" | "linearizable" | "snapshot") => Ok(()),
        Some(other) => Err(ServerError::new(
            Code::BAD_VALUE,
            format!(
                "Enumeration value '{other}' for field 'readConcern.level' is not a valid value."
            ),
        )),
    }
}

/// Refuses fields that no write concern has, and values that they cannot have.
fn check_write_fields(concern: &RawDocument) -> Result<(), ServerError> {
    for (name, value) in raw::elements(concern) {
        let kind = type_name(value.element_type());
        let failed = |message: String| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
        match (name, value) {
            (_, RawBsonRef::Null | RawBsonRef::Undefined)
            | ("w", RawBsonRef::String(_))
            | ("j" | "fsync", RawBsonRef::Boolean(_))
            | ("wtimeout" | "getLastError" | "provenance", _) => {}
            ("w", RawBsonRef::Document(_)) => {
                return failed("tagged write concern requires tags".to_owned());
            }
            ("w", value) => match super::args::whole(value) {
                Some(0..=50) => {}
                Some(nodes) => {
                    return failed(format!(
                        "w has to be a non-negative number and not greater than 50; found: {nodes}"
                    ));
                }
                None => {
                    return failed(format!(
                        "w has to be a number, string, or object; found: {kind}"
                    ));
                }
            },
            ("j" | "fsync", value) if super::args::whole(value).is_some() => {}
            ("j" | "fsync", _) => {
                return Err(wrong_type(
                    &format!("WriteConcernOptions.{name}"),
                    value,
                    "types '[bool, long, int, decimal, double']",
                ));
            }
            _ => return Err(super::args::unknown("WriteConcernOptions", name)),
        }
    }
    Ok(())
}

fn check_write(row: &Command, concern: RawBsonRef<'_>, mode: &Mode) -> Result<(), ServerError> {
    let RawBsonRef::Document(concern) = concern else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "\"writeConcern\" had the wrong type. Expected object, found {}",
                type_name(concern.element_type())
            ),
        ));
    };
    check_write_fields(concern)?;
    let invalid = |message: &str| Err(ServerError::new(Code::INVALID_OPTIONS, message));
    if !row.writes {
        return invalid("Command does not support writeConcern");
    }
    if matches!(mode, Mode::Transaction { .. })
        && row.transaction != super::table::InTransaction::Ends
        && !is_empty_document(concern)
    {
        return invalid("writeConcern is not allowed within a multi-statement transaction");
    }
    match raw::get(concern, "w") {
        Some(RawBsonRef::String(mode)) if mode != "majority" => Err(ServerError::new(
            Code::UNKNOWN_REPL_WRITE_CONCERN,
            format!("No write concern mode named '{mode}' found in replica set configuration"),
        )),
        Some(value) if super::args::whole(value).is_some_and(|nodes| nodes > 1) => {
            Err(ServerError::new(
                Code::CANNOT_SATISFY_WRITE_CONCERN,
                "Not enough data-bearing nodes",
            ))
        }
        _ => Ok(()),
    }
}
