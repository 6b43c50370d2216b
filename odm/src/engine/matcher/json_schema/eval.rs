//! Whether a value keeps the rules of a schema.

use std::cmp::Ordering;

use bson::{Bson, Document, RawBsonRef, RawDocument};

use super::{Demand, Dependency, Rule, Schema};
use crate::engine::matcher::ast::{Comparison, Operand};
use crate::engine::regex::Regex;
use crate::error::ServerError;
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::{key, raw};

type Answer = Result<bool, ServerError>;

impl Schema {
    pub(super) fn admits(&self, value: RawBsonRef<'_>) -> Answer {
        for rule in &self.rules {
            if !rule.admits(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Rule {
    pub(super) fn admits(&self, value: RawBsonRef<'_>) -> Answer {
        Ok(match (&self.demand, value) {
            (Demand::Type(types), _) => types.contains(value.element_type()),
            (Demand::Enum(values), _) => {
                let wanted = unordered(value);
                values
                    .iter()
                    .any(|operand| unordered(operand.value()) == wanted)
            }
            (Demand::Bound(comparison, operand), _) => {
                Number::from_raw(value).is_none_or(|number| within(*comparison, operand, number))
            }
            (Demand::MultipleOf(divisor), _) => {
                Number::from_raw(value).is_none_or(|number| is_multiple(number, *divisor))
            }
            (Demand::Length(count), RawBsonRef::String(text)) => count.admits(text.chars().count()),
            (Demand::Pattern(regex), RawBsonRef::String(text)) => regex.is_match(text)?,
            (Demand::Items(count), RawBsonRef::Array(array)) => {
                count.admits(raw::walk_array(array).count())
            }
            (Demand::UniqueItems, RawBsonRef::Array(array)) => {
                duplicate(raw::values(array)).is_none()
            }
            (Demand::EachItem(schema), RawBsonRef::Array(array)) => {
                all(raw::values(array), |item| schema.admits(item))?
            }
            (Demand::FirstItems(schemas), RawBsonRef::Array(array)) => {
                all(raw::values(array).zip(schemas), |(item, schema)| {
                    schema.admits(item)
                })?
            }
            (Demand::FurtherItems(from, schema), RawBsonRef::Array(array)) => {
                all(raw::values(array).skip(*from), |item| match schema {
                    Some(schema) => schema.admits(item),
                    None => Ok(false),
                })?
            }
            (Demand::Properties(properties), RawBsonRef::Document(document)) => {
                all(properties, |(path, schema)| {
                    Ok(property_failure(path, schema, document)?.is_none())
                })?
            }
            (Demand::Patterns(patterns), RawBsonRef::Document(document)) => {
                all(patterns, |(regex, schema)| {
                    Ok(pattern_failure(regex, schema, document)?.is_none())
                })?
            }
            (
                Demand::FurtherProperties(known, patterns, schema),
                RawBsonRef::Document(document),
            ) => all(
                further(document, known, patterns)?,
                |(_, value)| match schema {
                    Some(schema) => schema.admits(value),
                    None => Ok(false),
                },
            )?,
            (Demand::Required(paths), RawBsonRef::Document(document)) => {
                paths.iter().all(|path| is_present(path, document))
            }
            (Demand::PropertyCount(count), RawBsonRef::Document(document)) => {
                count.admits(raw::walk(document).count())
            }
            (Demand::Dependencies(dependencies), RawBsonRef::Document(document)) => {
                all(dependencies, |(path, dependency)| {
                    if !is_present(path, document) {
                        return Ok(true);
                    }
                    match dependency {
                        Dependency::Fields(fields) => {
                            Ok(fields.iter().all(|field| is_present(field, document)))
                        }
                        Dependency::Schema(schema) => schema.admits(value),
                    }
                })?
            }
            (Demand::AllOf(schemas), _) => all(schemas, |schema| schema.admits(value))?,
            (Demand::AnyOf(schemas), _) => !all(schemas, |schema| Ok(!schema.admits(value)?))?,
            (Demand::OneOf(schemas), _) => matching(schemas, value)?.len() == 1,
            (Demand::Not(schema), _) => !schema.admits(value)?,
            _ => true,
        })
    }
}

fn all<T>(items: impl IntoIterator<Item = T>, test: impl Fn(T) -> Answer) -> Answer {
    for item in items {
        if !test(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The indexes of the schemas that admit a value.
pub(super) fn matching(
    schemas: &[Schema],
    value: RawBsonRef<'_>,
) -> Result<Vec<usize>, ServerError> {
    let mut indexes = Vec::new();
    for (index, schema) in schemas.iter().enumerate() {
        if schema.admits(value)? {
            indexes.push(index);
        }
    }
    Ok(indexes)
}

fn within(comparison: Comparison, bound: &Operand, number: Number) -> bool {
    let Some(bound) = Number::from_raw(bound.value()) else {
        return true;
    };
    if number.is_nan() || bound.is_nan() {
        return number.is_nan()
            && bound.is_nan()
            && matches!(comparison, Comparison::Lte | Comparison::Gte);
    }
    let order = number.compare(bound);
    match comparison {
        Comparison::Eq => order == Ordering::Equal,
        Comparison::Lt => order == Ordering::Less,
        Comparison::Lte => order != Ordering::Greater,
        Comparison::Gt => order == Ordering::Greater,
        Comparison::Gte => order != Ordering::Less,
    }
}

/// In decimal arithmetic, so that 0.3 is a multiple of 0.1.
fn is_multiple(number: Number, divisor: Number) -> bool {
    number.to_decimal().rem(divisor.to_decimal()).is_zero()
}

/// The first item that equals an earlier one; the order of fields does not count.
pub(super) fn duplicate<'a>(items: impl Iterator<Item = RawBsonRef<'a>>) -> Option<RawBsonRef<'a>> {
    let mut seen = std::collections::HashSet::new();
    items
        .into_iter()
        .find(|item| !seen.insert(unordered(*item)))
}

/// The key of a value in which the order of fields does not count.
pub(super) fn unordered(value: RawBsonRef<'_>) -> Vec<u8> {
    match value {
        RawBsonRef::Document(_) | RawBsonRef::Array(_) => match Bson::try_from(value) {
            Ok(decoded) => bson::serialize_to_raw_document_buf(&Document::from_iter([(
                String::new(),
                sorted(decoded),
            )]))
            .map(|document| key::of(RawBsonRef::Document(&document), None))
            .unwrap_or_default(),
            Err(_) => Vec::new(),
        },
        scalar => {
            let mut bytes = vec![0];
            bytes.extend(key::of(scalar, None));
            bytes
        }
    }
}

fn sorted(value: Bson) -> Bson {
    match value {
        Bson::Document(document) => {
            let mut fields: Vec<(String, Bson)> = document.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Bson::Document(
                fields
                    .into_iter()
                    .map(|(key, value)| (key, sorted(value)))
                    .collect(),
            )
        }
        Bson::Array(items) => Bson::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Whether there is a value at a path. A name with dots is a path, as it is to a server.
pub(super) fn is_present(path: &Path, document: &RawDocument) -> bool {
    match path.segments() {
        [name] => raw::get(document, name.name()).is_some(),
        _ => !path.get_all(document).is_empty(),
    }
}

/// The value at a path that breaks a schema, if none there keeps it.
pub(super) fn property_failure<'a>(
    path: &Path,
    schema: &Schema,
    document: &'a RawDocument,
) -> Result<Option<RawBsonRef<'a>>, ServerError> {
    let mut failure = None;
    if let [name] = path.segments() {
        if let Some(value) = raw::get(document, name.name())
            && !schema.admits(value)?
        {
            failure = Some(value);
        }
        return Ok(failure);
    }
    for value in path.get_all(document) {
        if schema.admits(value)? {
            return Ok(None);
        }
        failure = failure.or(Some(value));
    }
    Ok(failure)
}

/// The first field that matches a pattern and not its schema.
pub(super) fn pattern_failure<'a>(
    regex: &Regex,
    schema: &Schema,
    document: &'a RawDocument,
) -> Result<Option<(&'a str, RawBsonRef<'a>)>, ServerError> {
    for (name, value) in raw::elements(document) {
        if regex.is_match(name)? && !schema.admits(value)? {
            return Ok(Some((name, value)));
        }
    }
    Ok(None)
}

/// The fields that are neither known nor match a pattern.
pub(super) fn further<'a>(
    document: &'a RawDocument,
    known: &[String],
    patterns: &[Regex],
) -> Result<Vec<(&'a str, RawBsonRef<'a>)>, ServerError> {
    let mut fields = Vec::new();
    for (name, value) in raw::elements(document) {
        if known.iter().any(|known| known == name) {
            continue;
        }
        let mut matched = false;
        for regex in patterns {
            matched |= regex.is_match(name)?;
        }
        if !matched {
            fields.push((name, value));
        }
    }
    Ok(fields)
}
