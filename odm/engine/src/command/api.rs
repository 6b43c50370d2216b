//! The Stable API: which commands and fields a client may use that sends `apiVersion`, and perhaps `apiStrict`.

use bson::raw::{RawBsonRef, RawDocument};

use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, raw};

/// The commands of version 1, sorted, each with the fields that version 1 excludes.
const COMMANDS: &[(&str, &[&str])] = &[
    ("abortTransaction", &[]),
    (
        "aggregate",
        &[
            "encryptionInformation",
            "explain",
            "isMapReduceCommand",
            "runtimeConstants",
        ],
    ),
    ("bulkWrite", &["encryptionInformation"]),
    (
        "collMod",
        &["changeStreamPreAndPostImages", "dryRun", "recordPreImages"],
    ),
    ("commitTransaction", &[]),
    ("count", &[]),
    (
        "create",
        &[
            "autoIndexId",
            "changeStreamPreAndPostImages",
            "flags",
            "indexOptionDefaults",
            "max",
            "recordPreImages",
            "size",
            "storageEngine",
            "temp",
        ],
    ),
    ("createIndexes", &["ignoreUnknownIndexOptions"]),
    ("delete", &["encryptionInformation", "runtimeConstants"]),
    ("drop", &[]),
    ("dropDatabase", &[]),
    ("dropIndexes", &[]),
    ("endSessions", &[]),
    ("explain", &[]),
    (
        "find",
        &[
            "awaitData",
            "encryptionInformation",
            "max",
            "min",
            "noCursorTimeout",
            "oplogReplay",
            "readOnce",
            "returnKey",
            "runtimeConstants",
            "showRecordId",
            "tailable",
            "term",
        ],
    ),
    ("findAndModify", &["encryptionInformation"]),
    ("getMore", &[]),
    ("hello", &[]),
    ("insert", &["encryptionInformation"]),
    ("killCursors", &[]),
    ("listCollections", &["includePendingDrops"]),
    ("listDatabases", &[]),
    ("listIndexes", &["includeBuildUUIDs"]),
    ("ping", &[]),
    ("refreshSessions", &[]),
    ("saslContinue", &[]),
    ("saslStart", &[]),
    ("update", &["encryptionInformation"]),
];

/// The stages that version 1 excludes, sorted.
const STAGES: &[&str] = &[
    "$_internalInhibitOptimization",
    "$currentOp",
    "$fill",
    "$indexStats",
    "$listCachedAndActiveUsers",
    "$listCatalog",
    "$listLocalSessions",
    "$listSessions",
    "$operationMetrics",
    "$planCacheStats",
];

/// Refuses unknown versions and, from strict clients, everything outside their version.
pub(crate) fn check(name: &str, command: &RawDocument) -> Result<(), ServerError> {
    let strict = flag(command, "apiStrict")?;
    let deprecation_errors = flag(command, "apiDeprecationErrors")?;
    let is_strict = strict == Some(true);
    match raw::optional(command, "apiVersion") {
        None if strict.is_some() || deprecation_errors.is_some() => Err(ServerError::new(
            Code::location(4_886_600),
            "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion",
        )),
        Some(RawBsonRef::String("1")) if is_strict => check_strict(name, command),
        None | Some(RawBsonRef::String("1")) => Ok(()),
        Some(RawBsonRef::String(version)) => Err(ServerError::new(
            Code::API_VERSION_ERROR,
            if version.parse::<u32>().is_ok() {
                format!("Cannot accept API version {version}")
            } else {
                "API version must be \"1\"".to_owned()
            },
        )),
        Some(other) => Err(wrong_type("apiVersion", "string", other)),
    }
}

fn flag(command: &RawDocument, name: &str) -> Result<Option<bool>, ServerError> {
    match raw::optional(command, name) {
        None => Ok(None),
        Some(RawBsonRef::Boolean(value)) => Ok(Some(value)),
        Some(other) => Err(wrong_type(name, "bool", other)),
    }
}

fn check_strict(name: &str, command: &RawDocument) -> Result<(), ServerError> {
    let refuse = |message: String| Err(ServerError::new(Code::API_STRICT_ERROR, message));
    let row = COMMANDS.iter().find(|(known, _)| *known == name);
    let Some((_, unstable)) = row else {
        return refuse(format!(
            "Provided apiStrict:true, but the command {name} is not in API Version 1. Information on supported commands \
             and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api"
        ));
    };
    let mut fields = raw::elements(command).skip(1);
    let refused = fields.find(|(field, value)| {
        let counts = matches!(name, "aggregate" | "find")
            || !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined);
        counts && unstable.contains(field)
    });
    if let Some((field, _)) = refused {
        let idl = match name {
            "find" => "FindCommandRequest",
            _ => name,
        };
        return refuse(format!(
            "BSON field '{idl}.{field}' is not allowed with apiStrict:true."
        ));
    }
    match (
        name,
        raw::get(command, "pipeline"),
        raw::get(command, "indexes"),
    ) {
        ("aggregate", Some(RawBsonRef::Array(stages)), _) => {
            raw::values(stages).try_for_each(check_stage)
        }
        ("createIndexes", _, Some(RawBsonRef::Array(indexes))) => {
            raw::values(indexes).try_for_each(check_index)
        }
        _ => Ok(()),
    }
}

/// Refuses a stage outside version 1, also in nested pipelines.
fn check_stage(stage: RawBsonRef<'_>) -> Result<(), ServerError> {
    let Some((name, value)) = stage
        .as_document()
        .and_then(|stage| raw::elements(stage).next())
    else {
        return Ok(());
    };
    let refuse = |message: String| Err(ServerError::new(Code::API_STRICT_ERROR, message));
    if STAGES.contains(&name) {
        return refuse(format!(
            "{name} is not allowed with 'apiStrict: true' in API Version 1"
        ));
    }
    let RawBsonRef::Document(value) = value else {
        return Ok(());
    };
    match name {
        "$collStats" if raw::elements(value).any(|(option, _)| option != "count") => {
            refuse("only the 'count' option to $collStats is supported in API Version 1".to_owned())
        }
        "$facet" => raw::elements(value).try_for_each(|(_, stages)| check_stages(stages)),
        "$lookup" | "$unionWith" => raw::get(value, "pipeline").map_or(Ok(()), check_stages),
        _ => Ok(()),
    }
}

fn check_stages(stages: RawBsonRef<'_>) -> Result<(), ServerError> {
    match stages {
        RawBsonRef::Array(stages) => raw::values(stages).try_for_each(check_stage),
        _ => Ok(()),
    }
}

fn check_index(index: RawBsonRef<'_>) -> Result<(), ServerError> {
    let RawBsonRef::Document(index) = index else {
        return Ok(());
    };
    let Some(RawBsonRef::Document(key)) = raw::get(index, "key") else {
        return Ok(());
    };
    let is_text = raw::elements(key).any(|(_, kind)| kind == RawBsonRef::String("text"));
    if !is_text {
        return Ok(());
    }
    Err(ServerError::new(
        Code::API_STRICT_ERROR,
        format!(
            "Error in specification {} :: caused by :: text indexes cannot be created with apiStrict: true",
            odm_language::value::print::value(RawBsonRef::Document(index))
        ),
    ))
}

fn wrong_type(name: &str, expected: &str, found: RawBsonRef<'_>) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field 'APIParametersFromClient.{name}' is the wrong type '{}', expected type '{expected}'",
            bson_type::alias(found.element_type())
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(COMMANDS.is_sorted_by_key(|(name, _)| name));
        assert!(COMMANDS.iter().all(|(_, fields)| fields.is_sorted()));
        assert!(STAGES.is_sorted());
    }
}
