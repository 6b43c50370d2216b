//! Parses the specification of `$merge`.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{
    Expression, Globals, check_variable_name, compat::messages, field_path,
};
use odm_language::value::raw::{elements, get, values};

use crate::pipeline::outline::{self, Place};
use crate::pipeline::stage::Stage;
use crate::pipeline::stages::merge::{Matched, Merge, NotMatched, refuse};

/// The given options, which are read before everything else of the command.
struct Spec<'s> {
    database: Option<String>,
    collection: String,
    on: Option<Vec<&'s str>>,
    matched: Matched,
    not_matched: NotMatched,
    lets: Option<&'s RawDocument>,
}

pub(in crate::pipeline::stages) fn outline(
    spec: RawBsonRef<'_>,
    place: Place<'_>,
) -> Result<(), ServerError> {
    let spec = Spec::read(spec)?;
    place.check(spec.database.as_deref(), &spec.collection, |name| {
        format!("Invalid $merge target namespace: '{name}'")
    })?;
    spec.check_modes()?;
    match &spec.matched {
        Matched::Pipeline { stages, .. } => outline::check(stages, place),
        _ => Ok(()),
    }
}

pub(in crate::pipeline::stages) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let spec = Spec::read(spec)?;
    let on = spec.on.as_deref().map(paths).transpose()?;
    Ok(Box::new(Merge {
        database: spec.database,
        collection: spec.collection,
        is_on_given: on.is_some(),
        on: on.unwrap_or_else(|| vec!["_id".to_owned()]),
        matched: bound(spec.matched, spec.lets, globals)?,
        not_matched: spec.not_matched,
    }))
}

impl<'s> Spec<'s> {
    fn read(spec: RawBsonRef<'s>) -> Result<Self, ServerError> {
        let spec = match spec {
            RawBsonRef::String(name) => return Ok(Self::into(None, name.to_owned())),
            RawBsonRef::Document(spec) => spec,
            other => {
                return mistyped(format!(
                    "$merge requires a string or object argument, but found {}",
                    messages::type_name(Some(other))
                ));
            }
        };
        check_fields(spec)?;
        let Some(target) = get(spec, "into") else {
            return refuse(
                40414,
                "BSON field '$merge.into' is missing but a required field",
            );
        };
        let (database, collection) = into(target)?;
        Ok(Self {
            on: get(spec, "on").map(on).transpose()?,
            matched: matched(get(spec, "whenMatched"))?,
            not_matched: not_matched(get(spec, "whenNotMatched"))?,
            lets: get(spec, "let").and_then(RawBsonRef::as_document),
            ..Self::into(database, collection)
        })
    }

    /// The default options for a collection.
    fn into(database: Option<String>, collection: String) -> Self {
        Self {
            database,
            collection,
            on: None,
            matched: Matched::Merge,
            not_matched: NotMatched::Insert,
            lets: None,
        }
    }

    fn check_modes(&self) -> Result<(), ServerError> {
        let (Matched::Fail | Matched::KeepExisting, NotMatched::Discard | NotMatched::Fail) =
            (&self.matched, self.not_matched)
        else {
            return Ok(());
        };
        refuse(
            51181,
            format!(
                "Combination of $merge modes 'whenMatched: {}' and 'whenNotMatched: {}' is not supported",
                self.matched.name(),
                self.not_matched.name()
            ),
        )
    }
}

fn mistyped<T>(message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::TYPE_MISMATCH, message))
}

/// Checks each field on its own, in the given order.
fn check_fields(spec: &RawDocument) -> Result<(), ServerError> {
    for (name, value) in elements(spec) {
        let wanted = match (name, value) {
            ("into", _) => {
                into(value)?;
                continue;
            }
            ("on", _) => {
                on(value)?;
                continue;
            }
            ("whenMatched", RawBsonRef::Array(_))
            | ("let", RawBsonRef::Document(_))
            | ("let" | "whenNotMatched", RawBsonRef::Null) => continue,
            ("whenMatched", _) => {
                matched(Some(value))?;
                continue;
            }
            ("whenNotMatched", RawBsonRef::String(_)) => {
                not_matched(Some(value))?;
                continue;
            }
            ("let", _) => "object",
            ("whenNotMatched", _) => "string",
            (other, _) => {
                return refuse(
                    40415,
                    format!("BSON field '$merge.{other}' is an unknown field."),
                );
            }
        };
        return mistyped(format!(
            "BSON field '$merge.{name}' is the wrong type '{}', expected type '{wanted}'",
            messages::type_name(Some(value))
        ));
    }
    Ok(())
}

fn into(target: RawBsonRef<'_>) -> Result<(Option<String>, String), ServerError> {
    let spec = match target {
        RawBsonRef::String("") => {
            return refuse(5_786_800, "$merge 'into' field cannot be an empty string");
        }
        RawBsonRef::String(name) => return Ok((None, name.to_owned())),
        RawBsonRef::Document(spec) => spec,
        other => {
            return refuse(
                51178,
                format!(
                    "$merge 'into' field  must be either a string or an object, but found {}",
                    messages::type_name(Some(other))
                ),
            );
        }
    };
    let (mut database, mut collection) = (None, None);
    for (name, value) in elements(spec) {
        match (name, value) {
            ("db", RawBsonRef::String(name)) => {
                database = Some(name.to_owned()).filter(|name| !name.is_empty());
            }
            ("coll", RawBsonRef::String(name)) => collection = Some(name.to_owned()),
            ("db" | "coll", RawBsonRef::Null | RawBsonRef::Undefined) => {}
            ("db" | "coll", other) => {
                return mistyped(format!(
                    "BSON field 'into.{name}' is the wrong type '{}', expected type 'string'",
                    messages::type_name(Some(other))
                ));
            }
            (other, _) => {
                return refuse(
                    40415,
                    format!("BSON field 'into.{other}' is an unknown field."),
                );
            }
        }
    }
    match collection.filter(|name| !name.is_empty()) {
        Some(collection) => Ok((database, collection)),
        None => refuse(
            5_786_801,
            "$merge 'into' field must specify a 'coll' that is not empty, null or undefined",
        ),
    }
}

fn on(value: RawBsonRef<'_>) -> Result<Vec<&str>, ServerError> {
    let items = match value {
        RawBsonRef::String(field) => return Ok(vec![field]),
        RawBsonRef::Array(items) => items,
        other => {
            return refuse(
                51186,
                format!(
                    "$merge 'on' field  must be either a string or an array of strings, but found {}",
                    messages::type_name(Some(other))
                ),
            );
        }
    };
    let mut fields = Vec::new();
    for item in values(items) {
        let RawBsonRef::String(field) = item else {
            return refuse(
                51134,
                format!(
                    "$merge 'on' array elements must be strings, but found {}",
                    messages::type_name(Some(item))
                ),
            );
        };
        fields.push(field);
    }
    if fields.is_empty() {
        return refuse(
            51187,
            "If explicitly specifying $merge 'on', must include at least one field",
        );
    }
    Ok(fields)
}

/// The fields of `on`; a duplicate is an error.
fn paths(on: &[&str]) -> Result<Vec<String>, ServerError> {
    let mut fields: Vec<String> = Vec::new();
    for field in on {
        field_path(field)?;
        if fields.iter().any(|known| known == field) {
            return refuse(31465, format!("Found a duplicate field '{field}'"));
        }
        fields.push((*field).to_owned());
    }
    Ok(fields)
}

fn matched(value: Option<RawBsonRef<'_>>) -> Result<Matched, ServerError> {
    Ok(match value {
        None | Some(RawBsonRef::String("merge")) => Matched::Merge,
        Some(RawBsonRef::String("replace")) => Matched::Replace,
        Some(RawBsonRef::String("keepExisting")) => Matched::KeepExisting,
        Some(RawBsonRef::String("fail")) => Matched::Fail,
        Some(RawBsonRef::String(other)) => {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                format!(
                    "Enumeration value '{other}' for field 'whenMatched' is not a valid value."
                ),
            ));
        }
        Some(RawBsonRef::Array(stages)) => Matched::Pipeline {
            stages: stages.to_owned(),
            variables: Vec::new(),
        },
        Some(other) => {
            return refuse(
                51191,
                format!(
                    "$merge 'whenMatched' field  must be either a string or an array, but found {}",
                    messages::type_name(Some(other))
                ),
            );
        }
    })
}

fn not_matched(value: Option<RawBsonRef<'_>>) -> Result<NotMatched, ServerError> {
    Ok(match value {
        Some(RawBsonRef::String("discard")) => NotMatched::Discard,
        Some(RawBsonRef::String("fail")) => NotMatched::Fail,
        None | Some(RawBsonRef::Null | RawBsonRef::String("insert")) => NotMatched::Insert,
        Some(other) => {
            let other = match other {
                RawBsonRef::String(other) => other,
                _ => "",
            };
            return Err(ServerError::new(
                Code::BAD_VALUE,
                format!(
                    "Enumeration value '{other}' for field '$merge.whenNotMatched' is not a valid value."
                ),
            ));
        }
    })
}

/// Adds the variables of `let`, which only a pipeline may use.
fn bound(
    matched: Matched,
    lets: Option<&RawDocument>,
    globals: &Globals,
) -> Result<Matched, ServerError> {
    let Some(lets) = lets else {
        return Ok(matched);
    };
    let Matched::Pipeline { stages, .. } = matched else {
        return refuse(
            51199,
            format!(
                "Cannot use 'let' variables with 'whenMatched: {}' mode",
                matched.name()
            ),
        );
    };
    if get(lets, "new").is_some_and(|value| value != RawBsonRef::String("$$ROOT")) {
        return refuse(
            51273,
            "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
        );
    }
    let mut variables = Vec::new();
    for (name, value) in elements(lets) {
        check_variable_name(name)?;
        variables.push((name.to_owned(), Expression::parse(value, &globals.scope())?));
    }
    Ok(Matched::Pipeline { stages, variables })
}

impl Matched {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Merge => "merge",
            Self::KeepExisting => "keepExisting",
            Self::Fail => "fail",
            Self::Pipeline { .. } => "pipeline",
        }
    }
}

impl NotMatched {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Discard => "discard",
            Self::Fail => "fail",
        }
    }
}
