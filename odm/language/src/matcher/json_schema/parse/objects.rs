//! Parses the keywords about documents and their fields.

use std::sync::Arc;

use bson::RawBsonRef;
use bson::spec::ElementType;

use super::{Parsed, Parser, document, failed, mismatch, schema, type_name};
use crate::error::{Code, ServerError};
use crate::matcher::json_schema::{Count, Demand, Dependency, Property};
use crate::regex::Regex;
use crate::value::bson_type::TypeSet;
use crate::value::path::Path;
use crate::value::raw;

impl Parser<'_> {
    pub(super) fn objects(&mut self) -> Parsed<()> {
        let object = TypeSet::one(ElementType::EmbeddedDocument);
        let mut known = Vec::new();
        let required = self.get("required").map(required).transpose()?;
        if let Some(value) = self.get("properties") {
            let mut properties = Vec::new();
            for (name, value) in raw::elements(document(value, "properties")?) {
                let RawBsonRef::Document(inner) = value else {
                    return Err(mismatch(format!(
                        "Nested schema for $jsonSchema property '{name}' must be an object"
                    )));
                };
                known.push(name.to_owned());
                properties.push(Property {
                    path: Path::new(name),
                    schema: Arc::new(schema(inner, false)?),
                    is_required: required
                        .as_ref()
                        .is_some_and(|paths| paths.iter().any(|path| path.as_str() == name)),
                });
            }
            self.push_about(object, "properties", Demand::Properties(properties));
        }
        let mut patterns = Vec::new();
        if let Some(value) = self.get("patternProperties") {
            for (pattern, value) in raw::elements(document(value, "patternProperties")?) {
                let RawBsonRef::Document(inner) = value else {
                    return Err(mismatch(format!(
                        "$jsonSchema keyword 'patternProperties' has property '{pattern}' which is \
                         not an object"
                    )));
                };
                let inner = schema(inner, false)?;
                let regex = Regex::in_filter(pattern, "").map_err(|error| {
                    let message = error.message().replace(
                        "Regular expression is invalid",
                        "Invalid regular expression",
                    );
                    ServerError::new(Code::BAD_VALUE, message)
                })?;
                patterns.push((regex, inner));
            }
        }
        let regexes = patterns.iter().map(|(regex, _)| regex.clone()).collect();
        match self.get("additionalProperties") {
            None | Some(RawBsonRef::Boolean(true)) => {}
            Some(RawBsonRef::Boolean(false)) => {
                let demand = Demand::FurtherProperties(known, regexes, None);
                self.push_about(object, "additionalProperties", demand);
            }
            Some(RawBsonRef::Document(inner)) => {
                let inner = Some(Arc::new(schema(inner, false)?));
                let demand = Demand::FurtherProperties(known, regexes, inner);
                self.push_about(object, "additionalProperties", demand);
            }
            Some(_) => {
                return Err(mismatch(
                    "$jsonSchema keyword 'additionalProperties' must be an object or a boolean",
                ));
            }
        }
        if !patterns.is_empty() {
            self.push_about(object, "patternProperties", Demand::Patterns(patterns));
        }
        if let Some(mut paths) = required {
            paths.sort_by(|a, b| a.as_str().cmp(b.as_str()));
            self.push_about(object, "required", Demand::Required(paths));
        }
        if let Some(count) = self.count("minProperties")? {
            let demand = Demand::PropertyCount(Count::AtLeast(count));
            self.push_about(object, "minProperties", demand);
        }
        if let Some(count) = self.count("maxProperties")? {
            let demand = Demand::PropertyCount(Count::AtMost(count));
            self.push_about(object, "maxProperties", demand);
        }
        if let Some(value) = self.get("dependencies") {
            let dependencies = raw::elements(document(value, "dependencies")?)
                .map(|(name, value)| {
                    let dependency = dependency(name, value, self.whole)?;
                    Ok((Path::new(name), dependency))
                })
                .collect::<Parsed<_>>()?;
            // unlike the other keywords, this one is kept whatever type the schema demands
            let demand = Demand::Dependencies(dependencies);
            self.push_rule("dependencies", demand, Some(object));
        }
        Ok(())
    }
}

fn required(value: RawBsonRef<'_>) -> Parsed<Vec<Path>> {
    let RawBsonRef::Array(list) = value else {
        return Err(mismatch(format!(
            "$jsonSchema keyword 'required' must be an array, but found an element of type {}",
            type_name(value)
        )));
    };
    let mut paths: Vec<Path> = Vec::new();
    for value in raw::values(list) {
        let RawBsonRef::String(name) = value else {
            return Err(mismatch(format!(
                "$jsonSchema keyword 'required' must be an array of strings, but found an element \
                 of type: {}",
                type_name(value)
            )));
        };
        if paths.iter().any(|path| path.as_str() == name) {
            return Err(failed(
                "$jsonSchema keyword 'required' array cannot contain duplicate values",
            ));
        }
        paths.push(Path::new(name));
    }
    if paths.is_empty() {
        return Err(failed(
            "$jsonSchema keyword 'required' cannot be an empty array",
        ));
    }
    Ok(paths)
}

fn dependency(name: &str, value: RawBsonRef<'_>, whole: bool) -> Parsed<Dependency> {
    let list = match value {
        RawBsonRef::Document(inner) => {
            return Ok(Dependency::Schema(Box::new(schema(inner, whole)?)));
        }
        RawBsonRef::Array(list) => list,
        _ => {
            return Err(mismatch(format!(
                "property '{name}' in $jsonSchema keyword 'dependencies' must be either an object \
                 or an array"
            )));
        }
    };
    if list.is_empty() {
        return Err(failed(format!(
            "property '{name}' in $jsonSchema keyword 'dependencies' cannot be an empty array"
        )));
    }
    let mut fields: Vec<Path> = Vec::new();
    for value in raw::values(list) {
        let RawBsonRef::String(field) = value else {
            return Err(mismatch(format!(
                "array '{name}' in $jsonSchema keyword 'dependencies' can only contain strings, \
                 but found element of type: {}",
                type_name(value)
            )));
        };
        if fields.iter().any(|path| path.as_str() == field) {
            return Err(failed(format!(
                "array '{name}' in $jsonSchema keyword 'dependencies' contains duplicate element: \
                 {field}"
            )));
        }
        fields.push(Path::new(field));
    }
    Ok(Dependency::Fields(fields))
}
