//! Tests whether a value satisfies the rules of a schema.

use std::cmp::Ordering;

use bson::{Bson, Document, RawBsonRef, RawDocument};

use super::{Demand, Dependency, Property, Rule, Schema};
use crate::error::ServerError;
use crate::matcher::comparison::{Comparison, Operand};
use crate::regex::Regex;
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::{key, raw};

pub(super) type Answer = Result<bool, ServerError>;

/// The values that a schema is tested against: one value, or those at a path. A missing required property has none, and
/// a path through an array may have several.
#[derive(Debug, Clone, Copy)]
pub(super) struct Considered<'a, 'v> {
    pub(super) values: &'v [RawBsonRef<'a>],
    /// Whether the path leads through an array: mongod reports less about such values.
    pub(super) is_scattered: bool,
}

impl<'a, 'v> Considered<'a, 'v> {
    pub(super) fn one(value: &'v RawBsonRef<'a>) -> Self {
        Self {
            values: std::slice::from_ref(value),
            is_scattered: false,
        }
    }

    /// The value, if there is exactly one.
    pub(super) fn single(self) -> Option<RawBsonRef<'a>> {
        match self.values {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// The values of `enum`.
#[derive(Debug, Clone)]
pub(super) struct Enumeration {
    operands: Vec<Operand>,
    /// Their [keys](unordered).
    keys: Vec<Vec<u8>>,
}

impl Enumeration {
    pub(super) fn operands(&self) -> &[Operand] {
        &self.operands
    }

    fn contains(&self, value: RawBsonRef<'_>) -> bool {
        self.keys.contains(&unordered(value))
    }
}

impl FromIterator<Operand> for Enumeration {
    fn from_iter<I: IntoIterator<Item = Operand>>(operands: I) -> Self {
        let operands: Vec<Operand> = operands.into_iter().collect();
        let keys = operands.iter().map(|operand| unordered(operand.value()));
        Self {
            keys: keys.collect(),
            operands,
        }
    }
}

impl Schema {
    pub(super) fn admits(&self, value: RawBsonRef<'_>) -> Answer {
        self.shape.admits(&self.rules, value)
    }

    /// Whether each rule holds for at least one of the values.
    pub(super) fn admits_all(&self, considered: Considered<'_, '_>) -> Answer {
        if let Some(value) = considered.single() {
            return self.admits(value);
        }
        all(&self.rules, |rule| rule.admits(considered))
    }
}

impl Rule {
    pub(super) fn admits(&self, considered: Considered<'_, '_>) -> Answer {
        let values = considered.values;
        Ok(match &self.demand {
            Demand::AllOf(schemas) => all(schemas, |schema| schema.admits_all(considered))?,
            Demand::AnyOf(schemas) => !all(schemas, |schema| Ok(!schema.admits_all(considered)?))?,
            Demand::OneOf(schemas) => matching(schemas, considered)?.len() == 1,
            Demand::Not(schema) => !schema.admits_all(considered)?,
            Demand::Type(types) => values
                .iter()
                .any(|value| types.contains(value.element_type())),
            Demand::Enum(alternatives) => values.iter().any(|value| alternatives.contains(*value)),
            demand => {
                let mut spoken_of = values
                    .iter()
                    .filter(|value| self.is_about(**value))
                    .peekable();
                spoken_of.peek().is_none() || !all(spoken_of, |value| Ok(!demand.admits(*value)?))?
            }
        })
    }

    /// Whether the rule applies to values of this type.
    pub(super) fn is_about(&self, value: RawBsonRef<'_>) -> bool {
        self.about
            .is_none_or(|about| about.contains(value.element_type()))
    }
}

impl Demand {
    /// Whether a value satisfies the demand; its type is one that the rule applies to.
    fn admits(&self, value: RawBsonRef<'_>) -> Answer {
        Ok(match (self, value) {
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
                all(properties, |property| property.admits(document))?
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
            _ => true,
        })
    }
}

pub(super) fn all<T>(items: impl IntoIterator<Item = T>, test: impl Fn(T) -> Answer) -> Answer {
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
    considered: Considered<'_, '_>,
) -> Result<Vec<usize>, ServerError> {
    let mut indexes = Vec::new();
    for (index, schema) in schemas.iter().enumerate() {
        if schema.admits_all(considered)? {
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

/// Computed in decimal, so that 0.3 is a multiple of 0.1.
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

/// Whether a path has a value. mongod reads a name with dots as a path, too.
pub(super) fn is_present(path: &Path, document: &RawDocument) -> bool {
    match path.segments() {
        [name] => raw::get(document, name.name()).is_some(),
        _ => !path.get_all(document).is_empty(),
    }
}

impl Property {
    /// Whether the values of the property satisfy its schema.
    fn admits(&self, document: &RawDocument) -> Answer {
        match self.path.segments() {
            [name] => match raw::get(document, name.name()) {
                Some(value) => self.schema.admits(value),
                None => self.admits_values(&[]),
            },
            _ => self.admits_values(&self.path.get_all(document)),
        }
    }

    fn admits_values(&self, values: &[RawBsonRef<'_>]) -> Answer {
        if values.is_empty() && !self.is_required {
            return Ok(true);
        }
        self.schema.admits_all(Considered {
            values,
            is_scattered: false,
        })
    }

    /// The values that break the property's schema, and whether the path leads through an array.
    pub(super) fn failure<'a>(
        &self,
        document: &'a RawDocument,
    ) -> Result<Option<(Vec<RawBsonRef<'a>>, bool)>, ServerError> {
        if self.admits(document)? {
            return Ok(None);
        }
        Ok(Some(match self.path.get_plain(document) {
            Some(value) => (vec![value], false),
            None => (self.path.get_all(document), true),
        }))
    }
}

/// The first field whose name matches the pattern and whose value breaks the schema.
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

/// The fields that are neither properties nor match a pattern.
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
