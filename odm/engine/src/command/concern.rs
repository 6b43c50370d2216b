//! Read concern, write concern and read preference. The engine is one node in memory, and meets every concern that a
//! single node can meet.

mod preference;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_language::clock::Clock;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::command::args::{is_empty_document, type_name, wrong_type};
use crate::command::generic_arguments::InTransaction;
use crate::command::generic_arguments::Rules;
use crate::txn::session::Mode;
use crate::txn::snapshot::Moment;

/// Refuses malformed and unknown concerns, and read concerns that the engine or the command cannot meet.
pub(crate) fn check(rules: Rules, command: &RawDocument, mode: &Mode) -> Result<(), ServerError> {
    if let Some(concern) = raw::get(command, "readConcern") {
        check_read(rules, concern, mode)?;
        if let RawBsonRef::Document(concern) = concern
            && let Some(why) = unsupported(rules, command, concern, mode)
        {
            let whose = if matches!(mode, Mode::Transaction { .. }) {
                "this transaction's "
            } else {
                ""
            };
            return Err(not_supported(rules.name, whose, concern, why));
        }
    }
    if let Some(concern) = raw::get(command, "writeConcern") {
        check_write(rules, concern, mode)?;
    }
    preference::check(command)?;
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
                "{} value for maxTimeMS is out of range",
                odm_language::value::print::value(value)
            ),
        )),
        Some((_, None)) => Err(ServerError::new(
            Code::BAD_VALUE,
            "maxTimeMS must be a number",
        )),
    }
}

/// The fields of a read concern as error messages print them, with a comma after each.
fn print_fields(concern: &RawDocument) -> String {
    let of = |name: &str| {
        let value = raw::get(concern, name)?;
        Some(format!(
            "{name}: {}, ",
            odm_language::value::print::value(value)
        ))
    };
    let fields = ["level", "afterOpTime", "afterClusterTime", "atClusterTime"];
    fields.into_iter().filter_map(of).collect()
}

/// The reason why the command does not support the read concern's level; `None` if it does.
fn unsupported(
    rules: Rules,
    command: &RawDocument,
    concern: &RawDocument,
    mode: &Mode,
) -> Option<&'static str> {
    let Some(RawBsonRef::String(level)) = raw::get(concern, "level") else {
        return None;
    };
    match (rules.name, level) {
        (_, "local") => None,
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
        ("create" | "createIndexes", "majority" | "snapshot") => Some(NOT_SUPPORTED),
        // A transaction's first command sets the read concern for all of its commands.
        _ if matches!(mode, Mode::Transaction { .. }) => None,
        ("abortTransaction" | "aggregate" | "count" | "distinct" | "find" | "getMore", _) => None,
        _ => Some(NOT_SUPPORTED),
    }
}

const NOT_SUPPORTED: &str = "read concern not supported";

fn not_supported(name: &str, whose: &str, concern: &RawDocument, why: &str) -> ServerError {
    ServerError::new(
        Code::INVALID_OPTIONS,
        format!(
            "Command {name} does not support {whose}{{ readConcern: {{ {}provenance: \"clientSupplied\" }} }} :: caused by :: \
             {why}",
            print_fields(concern)
        ),
    )
}

/// Refuses a later command of a transaction that cannot run with the read concern of the first command.
pub(crate) fn check_later(name: &str, first: Option<&RawDocument>) -> Result<(), ServerError> {
    let level = first.and_then(|concern| raw::get(concern, "level")?.as_str());
    match (first, level) {
        (Some(concern), Some("majority" | "snapshot"))
            if matches!(name, "create" | "createIndexes") =>
        {
            Err(not_supported(
                name,
                "this transaction's ",
                concern,
                NOT_SUPPORTED,
            ))
        }
        _ => Ok(()),
    }
}

fn check_read(rules: Rules, concern: RawBsonRef<'_>, mode: &Mode) -> Result<(), ServerError> {
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
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "\"level\" had the wrong type. Expected string, found {}",
                    type_name(other.element_type())
                ),
            ));
        }
    };
    if let Some((name, _)) = raw::elements(concern).find(|(name, _)| {
        !matches!(
            *name,
            "level" | "afterClusterTime" | "provenance" | "atClusterTime" | "afterOpTime"
        )
    }) {
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            format!("Unrecognized option in readConcern: {name}"),
        ));
    }
    if !matches!(
        level,
        None | Some("local" | "available" | "majority" | "linearizable" | "snapshot")
    ) {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "readConcern.level must be either 'local', 'majority', 'linearizable', 'available', or 'snapshot'",
        ));
    }
    if matches!(
        rules.name,
        "currentOp" | "getMore" | "ping" | "serverStatus" | "validate"
    ) && raw::get(concern, "afterClusterTime").is_some()
    {
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            "afterClusterTime is not allowed for this command",
        ));
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
    Ok(())
}

/// Refuses unknown fields of a write concern, and invalid values.
fn check_write_fields(concern: &RawDocument) -> Result<(), ServerError> {
    for (name, value) in raw::elements(concern) {
        let kind = type_name(value.element_type());
        let failed = |message: String| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
        match (name, value) {
            (_, RawBsonRef::Null | RawBsonRef::Undefined)
            | ("w", RawBsonRef::String(_))
            | ("j" | "fsync", RawBsonRef::Boolean(_))
            | ("wtimeout" | "getLastError" | "provenance", _) => {}
            ("w", RawBsonRef::Document(tags)) => {
                if tags.is_empty() {
                    return failed("tagged write concern requires tags".to_owned());
                }
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
    let is_set = |name| raw::get(concern, name).is_some_and(super::args::truthy);
    if is_set("fsync") && is_set("j") {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "fsync and j options cannot be used together",
        ));
    }
    Ok(())
}

fn check_write(rules: Rules, concern: RawBsonRef<'_>, mode: &Mode) -> Result<(), ServerError> {
    let invalid = |message: &str| Err(ServerError::new(Code::INVALID_OPTIONS, message));
    if !rules.writes {
        return invalid("Command does not support writeConcern");
    }
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
    if matches!(mode, Mode::Transaction { .. })
        && rules.transaction != InTransaction::Ends
        && !is_empty_document(concern)
    {
        return invalid("writeConcern is not allowed within a multi-statement transaction");
    }
    Ok(())
}

/// The moment of the snapshot that a read concern requests.
pub(crate) fn snapshot(
    command: &RawDocument,
    mode: &Mode,
    clock: &Clock,
) -> Result<Option<Moment>, ServerError> {
    let Some(RawBsonRef::Document(concern)) = raw::get(command, "readConcern") else {
        return Ok(None);
    };
    let invalid = |message: String| Err(ServerError::new(Code::INVALID_OPTIONS, message));
    let time = |name: &str| match raw::get(concern, name) {
        None => Ok(None),
        Some(RawBsonRef::Timestamp(time)) => Ok(Some(time)),
        Some(other) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "\"{name}\" had the wrong type. Expected timestamp, found {}",
                type_name(other.element_type())
            ),
        )),
    };
    let (at, after) = (time("atClusterTime")?, time("afterClusterTime")?);
    let level = match raw::get(concern, "level") {
        Some(RawBsonRef::String(level)) => level,
        _ => "local",
    };
    if after.is_some() && !matches!(level, "majority" | "local" | "snapshot") {
        return invalid(
            "afterClusterTime field can be set only if level is equal to majority, local, or snapshot"
                .to_owned(),
        );
    }
    if at.is_some() && level != "snapshot" {
        return invalid(
            "atClusterTime field can be set only if level is equal to snapshot".to_owned(),
        );
    }
    if at.is_some() && after.is_some() {
        return invalid(
            "Specifying a timestamp for readConcern snapshot in a causally consistent session is not allowed. See \
             https://docs.mongodb.com/manual/core/read-isolation-consistency-recency/#causal-consistency"
                .to_owned(),
        );
    }
    for (name, time) in [("atClusterTime", at), ("afterClusterTime", after)] {
        let Some(time) = time else { continue };
        if (time.time, time.increment) == (0, 0) {
            return invalid(format!("{name} cannot be a null timestamp"));
        }
        let now = clock.now();
        if (time.time, time.increment) > (now.time, now.increment) {
            return invalid(format!(
                "readConcern {name} value must not be greater than the current clusterTime. Requested clusterTime: \
                 {{ ts: Timestamp({}, {}) }}; current clusterTime: {{ ts: Timestamp({}, {}) }}",
                time.time, time.increment, now.time, now.increment
            ));
        }
    }
    // A transaction reads at its own start, unless its first command names an earlier time.
    let asked = level == "snapshot" && (at.is_some() || !matches!(mode, Mode::Transaction { .. }));
    Ok(asked.then(|| at.map_or(Moment::Present, Moment::At)))
}

/// Whether the write concern limits the time to wait.
pub(crate) fn has_timeout(command: &RawDocument) -> bool {
    let concern = raw::get(command, "writeConcern").and_then(RawBsonRef::as_document);
    let time = concern.and_then(|concern| raw::get(concern, "wtimeout"));
    time.and_then(super::args::whole)
        .is_some_and(|time| time > 0)
}

/// The write concern error if a single node cannot meet the write concern. The command was executed all the same.
pub(crate) fn unmet(command: &RawDocument) -> Option<Document> {
    let Some(RawBsonRef::Document(concern)) = raw::get(command, "writeConcern") else {
        return None;
    };
    let (code, message) = match raw::get(concern, "w")? {
        RawBsonRef::Null | RawBsonRef::Undefined => (
            Code::UNKNOWN_REPL_WRITE_CONCERN,
            "No write concern mode named '' found in replica set configuration".to_owned(),
        ),
        RawBsonRef::Document(tags) => (
            Code::NO_SUCH_KEY,
            format!(
                "No replica set tag key {} in config",
                raw::elements(tags).next().map_or("", |(tag, _)| tag)
            ),
        ),
        RawBsonRef::String(mode) if mode != "majority" => (
            Code::UNKNOWN_REPL_WRITE_CONCERN,
            format!("No write concern mode named '{mode}' found in replica set configuration"),
        ),
        value if super::args::whole(value).is_some_and(|nodes| nodes > 1) => (
            Code::CANNOT_SATISFY_WRITE_CONCERN,
            "Not enough data-bearing nodes".to_owned(),
        ),
        _ => return None,
    };
    let mut asked = Document::try_from(concern).unwrap_or_default();
    match asked.get_mut("w") {
        Some(Bson::Document(tags)) => {
            for (_, tag) in tags.iter_mut() {
                if let Bson::Int32(nodes) = tag {
                    *tag = Bson::Int64(i64::from(*nodes));
                }
            }
        }
        Some(mode @ Bson::Null) => *mode = Bson::String(String::new()),
        _ => {}
    }
    if !asked.contains_key("wtimeout") {
        asked.insert("wtimeout", 0);
    }
    asked.insert("provenance", "clientSupplied");
    Some(doc! {
        "code": code.number(),
        "codeName": code.name(),
        "errmsg": message,
        "errInfo": { "writeConcern": asked },
    })
}
