//! Parses schema documents into rules, and refuses what mongod refuses.

use std::sync::Arc;

use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString, spec::ElementType};

use super::shape::TypedRules;
use super::{Count, Demand, Enumeration, Rule, Schema};
use crate::error::{Code, ServerError};
use crate::matcher::comparison::{Comparison, Operand};
use crate::matcher::parse::operand::{integer, non_negative};
use crate::regex::Regex;
use crate::value::bson_type::{self, TypeSet};
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::raw;

mod keywords;
mod objects;
mod types;

use self::keywords::check_known;
pub use self::keywords::known;

type Parsed<T> = Result<T, ServerError>;

fn failed(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::FAILED_TO_PARSE, message)
}

fn mismatch(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::TYPE_MISMATCH, message)
}

fn type_name(value: RawBsonRef<'_>) -> &'static str {
    bson_type::alias(value.element_type())
}

/// Parses a schema; `whole` marks the schema of whole documents.
pub(super) fn schema(source: &RawDocument, whole: bool) -> Parsed<Schema> {
    check_known(source)?;
    let mut parser = Parser {
        source,
        stated: None,
        rules: Vec::new(),
        whole,
    };
    let title = parser.text("title")?;
    let description = parser.text("description")?;
    let kind = parser.types()?;
    parser.scalars()?;
    parser.arrays()?;
    parser.objects()?;
    parser.logical()?;
    parser.rules.extend(kind);
    Ok(Schema {
        title,
        description,
        shape: TypedRules::of(&parser.rules),
        present: present(&parser.rules, whole),
        rules: parser.rules,
        whole,
        source: source.to_owned(),
    })
}

/// The paths that a whole document must have to satisfy all of these rules.
fn present(rules: &[Rule], whole: bool) -> Vec<Path> {
    let mut paths = Vec::new();
    for rule in rules.iter().filter(|_| whole) {
        match &rule.demand {
            Demand::Required(required) => paths.extend_from_slice(required),
            demand => {
                for schema in demand.conjuncts() {
                    paths.extend_from_slice(&schema.present);
                }
            }
        }
    }
    paths.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    paths
}

struct Parser<'a> {
    source: &'a RawDocument,
    /// The one type that the schema demands, if it names exactly one; all numeric types count as one.
    stated: Option<TypeSet>,
    rules: Vec<Rule>,
    whole: bool,
}

impl<'a> Parser<'a> {
    fn get(&self, keyword: &str) -> Option<RawBsonRef<'a>> {
        raw::get(self.source, keyword)
    }

    fn written(&self, keywords: &[&str]) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        for keyword in keywords {
            if let (Some(value), Ok(key)) = (self.get(keyword), CString::try_from(*keyword)) {
                document.append(key, value);
            }
        }
        document
    }

    fn push(&mut self, keyword: &'static str, demand: Demand) {
        self.push_rule(keyword, demand, None);
    }

    fn push_rule(&mut self, keyword: &'static str, demand: Demand, about: Option<TypeSet>) {
        let source = self.written(&[keyword]);
        self.rules.push(Rule {
            keyword,
            demand,
            about,
            source,
        });
    }

    /// Adds a rule about values of one type. Omits it if the schema demands another type, or describes whole documents
    /// and the rule is not about objects.
    fn push_about(&mut self, about: TypeSet, keyword: &'static str, demand: Demand) {
        let object = TypeSet::one(ElementType::EmbeddedDocument);
        if self.speaks_of(about) && (!self.whole || about == object) {
            self.push_rule(keyword, demand, Some(about));
        }
    }

    /// Whether the schema may apply to values of this type, rather than demand a single other type.
    fn speaks_of(&self, about: TypeSet) -> bool {
        self.stated.is_none_or(|stated| stated.intersects(about))
    }

    fn text(&self, keyword: &str) -> Parsed<Option<String>> {
        match self.get(keyword) {
            None => Ok(None),
            Some(RawBsonRef::String(text)) => Ok(Some(text.to_owned())),
            Some(_) => Err(mismatch(format!(
                "$jsonSchema keyword '{keyword}' must be of type string"
            ))),
        }
    }

    fn scalars(&mut self) -> Parsed<()> {
        if let Some(value) = self.get("multipleOf") {
            let number = Number::from_raw(value)
                .ok_or_else(|| mismatch("$jsonSchema keyword 'multipleOf' must be a number"))?;
            if !number.is_nan() && number.compare(Number::Int32(0)).is_le() {
                return Err(failed(
                    "$jsonSchema keyword 'multipleOf' must have a positive value",
                ));
            }
            // mongod ignores the divisor in the schema of whole documents
            if !self.whole && !number.is_finite() {
                return Err(ServerError::new(
                    Code::BAD_VALUE,
                    format!(
                        "divisor cannot be {}",
                        if number.is_nan() { "NaN" } else { "infinite" }
                    ),
                ));
            }
            self.push_about(TypeSet::NUMBER, "multipleOf", Demand::MultipleOf(number));
        }
        self.bound(
            "maximum",
            "exclusiveMaximum",
            Comparison::Lte,
            Comparison::Lt,
        )?;
        self.bound(
            "minimum",
            "exclusiveMinimum",
            Comparison::Gte,
            Comparison::Gt,
        )?;
        let string = TypeSet::one(ElementType::String);
        if let Some(value) = self.get("pattern") {
            let RawBsonRef::String(pattern) = value else {
                return Err(mismatch("$jsonSchema keyword 'pattern' must be a string"));
            };
            // mongod does not compile a pattern that never applies
            if !self.whole && self.speaks_of(string) {
                let regex = Regex::in_filter(pattern, "")?;
                self.push_about(string, "pattern", Demand::Pattern(regex));
            }
        }
        if let Some(count) = self.count("maxLength")? {
            self.push_about(string, "maxLength", Demand::Length(Count::AtMost(count)));
        }
        if let Some(count) = self.count("minLength")? {
            self.push_about(string, "minLength", Demand::Length(Count::AtLeast(count)));
        }
        Ok(())
    }

    fn bound(
        &mut self,
        keyword: &'static str,
        exclusive: &'static str,
        inclusive: Comparison,
        strict: Comparison,
    ) -> Parsed<()> {
        let flag = self.get(exclusive);
        let Some(value) = self.get(keyword) else {
            return match flag {
                None => Ok(()),
                Some(_) => Err(failed(format!(
                    "$jsonSchema keyword '{keyword}' must be a present if {exclusive} is present"
                ))),
            };
        };
        if Number::from_raw(value).is_none() {
            return Err(mismatch(format!(
                "$jsonSchema keyword '{keyword}' must be a number"
            )));
        }
        let is_strict = match flag {
            None => false,
            Some(RawBsonRef::Boolean(flag)) => flag,
            Some(_) => {
                return Err(mismatch(format!(
                    "$jsonSchema keyword '{exclusive}' must be a boolean"
                )));
            }
        };
        let comparison = if is_strict { strict } else { inclusive };
        self.push_about(
            TypeSet::NUMBER,
            keyword,
            Demand::Bound(comparison, Operand::new(value)),
        );
        if is_strict && let Some(rule) = self.rules.last_mut().filter(|r| r.keyword == keyword) {
            let mut source = RawDocumentBuf::new();
            for (key, value) in [(keyword, value), (exclusive, RawBsonRef::Boolean(true))] {
                if let Ok(key) = CString::try_from(key) {
                    source.append(key, value);
                }
            }
            rule.source = source;
        }
        Ok(())
    }

    fn count(&self, keyword: &str) -> Parsed<Option<u64>> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        integer(keyword, value)
            .and_then(|_| non_negative(keyword, value))
            .map(|count| Some(count.unsigned_abs()))
            .map_err(failed)
    }

    fn arrays(&mut self) -> Parsed<()> {
        let array = TypeSet::one(ElementType::Array);
        if let Some(count) = self.count("minItems")? {
            self.push_about(array, "minItems", Demand::Items(Count::AtLeast(count)));
        }
        if let Some(count) = self.count("maxItems")? {
            self.push_about(array, "maxItems", Demand::Items(Count::AtMost(count)));
        }
        match self.get("uniqueItems") {
            None | Some(RawBsonRef::Boolean(false)) => {}
            Some(RawBsonRef::Boolean(true)) => {
                self.push_about(array, "uniqueItems", Demand::UniqueItems);
            }
            Some(_) => {
                return Err(mismatch(
                    "$jsonSchema keyword 'uniqueItems' must be a boolean",
                ));
            }
        }
        let mut first = None;
        match self.get("items") {
            None => {}
            Some(RawBsonRef::Document(each)) => {
                let each = Arc::new(schema(each, false)?);
                self.push_about(array, "items", Demand::EachItem(each));
            }
            Some(RawBsonRef::Array(list)) => {
                let mut schemas = Vec::new();
                for value in raw::values(list) {
                    let RawBsonRef::Document(item) = value else {
                        return Err(mismatch(format!(
                            "$jsonSchema keyword 'items' requires that each element of the array \
                             is an object, but found a {}",
                            type_name(value)
                        )));
                    };
                    schemas.push(schema(item, false)?);
                }
                first = Some(schemas.len());
                self.push_about(array, "items", Demand::FirstItems(schemas));
            }
            Some(other) => {
                return Err(mismatch(format!(
                    "$jsonSchema keyword 'items' must be an array or an object, not {}",
                    type_name(other)
                )));
            }
        }
        let further = match self.get("additionalItems") {
            None | Some(RawBsonRef::Boolean(true)) => return Ok(()),
            Some(RawBsonRef::Boolean(false)) => None,
            Some(RawBsonRef::Document(item)) => Some(Box::new(schema(item, false)?)),
            Some(other) => {
                return Err(mismatch(format!(
                    "$jsonSchema keyword 'additionalItems' must be either an object or a boolean, \
                     but got a {}",
                    type_name(other)
                )));
            }
        };
        if let Some(from) = first {
            self.push_about(
                array,
                "additionalItems",
                Demand::FurtherItems(from, further),
            );
        }
        Ok(())
    }

    fn logical(&mut self) -> Parsed<()> {
        if let Some(schemas) = self.schemas("allOf")? {
            self.push("allOf", Demand::AllOf(schemas));
        }
        if let Some(schemas) = self.schemas("anyOf")? {
            self.push("anyOf", Demand::AnyOf(schemas));
        }
        if let Some(schemas) = self.schemas("oneOf")? {
            self.push("oneOf", Demand::OneOf(schemas));
        }
        if let Some(value) = self.get("not") {
            let RawBsonRef::Document(inner) = value else {
                return Err(mismatch(format!(
                    "$jsonSchema keyword 'not' must be an object, but found an element of type {}",
                    type_name(value)
                )));
            };
            let inner = Box::new(schema(inner, self.whole)?);
            self.push("not", Demand::Not(inner));
        }
        if let Some(value) = self.get("enum") {
            let RawBsonRef::Array(list) = value else {
                return Err(mismatch(format!(
                    "$jsonSchema keyword 'enum' must be an array, but found an element of type {}",
                    type_name(value)
                )));
            };
            self.push("enum", Demand::Enum(enumeration(list)?));
        }
        Ok(())
    }

    fn schemas(&self, keyword: &str) -> Parsed<Option<Vec<Schema>>> {
        let list = match self.get(keyword) {
            None => return Ok(None),
            Some(RawBsonRef::Array(list)) => list,
            Some(_) => {
                return Err(mismatch(format!(
                    "$jsonSchema keyword '{keyword}' must be an array"
                )));
            }
        };
        if list.is_empty() {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                format!("$jsonSchema keyword '{keyword}' must be a non-empty array"),
            ));
        }
        raw::values(list)
            .map(|value| match value {
                RawBsonRef::Document(inner) => schema(inner, self.whole),
                other => Err(mismatch(format!(
                    "$jsonSchema keyword '{keyword}' must be an array of objects, but found an \
                     element of type {}",
                    type_name(other)
                ))),
            })
            .collect::<Parsed<_>>()
            .map(Some)
    }
}

fn document<'a>(value: RawBsonRef<'a>, keyword: &str) -> Parsed<&'a RawDocument> {
    value
        .as_document()
        .ok_or_else(|| mismatch(format!("$jsonSchema keyword '{keyword}' must be an object")))
}

fn enumeration(list: &RawArray) -> Parsed<Enumeration> {
    if list.is_empty() {
        return Err(failed(
            "$jsonSchema keyword 'enum' cannot be an empty array",
        ));
    }
    if super::eval::duplicate(raw::values(list)).is_some() {
        return Err(failed(
            "$jsonSchema keyword 'enum' array cannot contain duplicate values.",
        ));
    }
    Ok(raw::values(list).map(Operand::new).collect())
}
