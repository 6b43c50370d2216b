//! The types of `bsonType` and `type`, under their BSON and JSON Schema names.

use bson::RawBsonRef;
use bson::spec::ElementType;

use super::{Parsed, Parser, failed, mismatch};
use crate::error::{Code, ServerError};
use crate::matcher::json_schema::{Demand, Rule};
use crate::value::bson_type::TypeSet;
use crate::value::raw;

impl Parser<'_> {
    pub(super) fn types(&mut self) -> Parsed<Option<Rule>> {
        let (keyword, value) = match (self.get("type"), self.get("bsonType")) {
            (Some(_), Some(_)) => {
                return Err(failed(
                    "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'",
                ));
            }
            (Some(value), None) => ("type", value),
            (None, Some(value)) => ("bsonType", value),
            (None, None) => return Ok(None),
        };
        let shape = || {
            mismatch(format!(
                "$jsonSchema keyword '{keyword}' must be either a string or an array of strings"
            ))
        };
        let mut names = Vec::new();
        match value {
            RawBsonRef::String(name) => names.push(name),
            RawBsonRef::Array(list) => {
                for value in raw::values(list) {
                    let name = value.as_str().ok_or_else(|| {
                        mismatch(format!(
                            "$jsonSchema keyword '{keyword}' array elements must be strings"
                        ))
                    })?;
                    if names.contains(&name) {
                        return Err(failed(format!(
                            "$jsonSchema keyword '{keyword}' has duplicate value: {name}"
                        )));
                    }
                    names.push(name);
                }
                if names.is_empty() {
                    return Err(failed(format!(
                        "$jsonSchema keyword '{keyword}' must name at least one type"
                    )));
                }
            }
            _ => return Err(shape()),
        }
        let is_single = names.len() == 1;
        let mut types = TypeSet::default();
        for name in names {
            types = types.union(if keyword == "type" {
                json_type(name)?
            } else {
                TypeSet::from_alias(name).ok_or_else(|| unknown_type(name))?
            });
        }
        self.stated = is_single.then_some(types);
        Ok(Some(Rule {
            keyword,
            demand: Demand::Type(types),
            about: None,
            source: self.written(&[keyword]),
        }))
    }
}

fn unknown_type(name: &str) -> ServerError {
    match name {
        "integer" => failed("$jsonSchema type 'integer' is not currently supported."),
        "missing" => ServerError::new(
            Code::BAD_VALUE,
            "'missing' is not a legal type name. To query for non-existence of a field, use {$exists:false}.",
        ),
        name => ServerError::new(Code::BAD_VALUE, format!("Unknown type name alias: {name}")),
    }
}

/// The types of `type`, under their JSON Schema names.
fn json_type(name: &str) -> Parsed<TypeSet> {
    Ok(match name {
        "string" => TypeSet::one(ElementType::String),
        "number" => TypeSet::NUMBER,
        "object" => TypeSet::one(ElementType::EmbeddedDocument),
        "array" => TypeSet::one(ElementType::Array),
        "boolean" => TypeSet::one(ElementType::Boolean),
        "null" => TypeSet::one(ElementType::Null),
        "integer" => {
            return Err(failed(
                "$jsonSchema type 'integer' is not currently supported.",
            ));
        }
        other => return Err(unknown_type(other)),
    })
}
