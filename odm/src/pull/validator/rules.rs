//! The bounds of one field.

use bson::{Bson, Document};

use super::declared::aliases;
use crate::pull::item::Type;
use crate::pull::literal::{double, string};
use crate::pull::number::separated;
use crate::schema::normal::{integer, is_truthy};

/// The largest `max` of `embed` and of `references` without a reason.
const LIMITS: [(&str, i64); 2] = [("embed(few", 200), ("references(many", 5_000)];

/// The attributes of a field, and what they leave of its schema.
pub(super) struct FieldRules {
    holds: Holds,
    is_list: bool,
    types: Vec<&'static str>,
    attributes: Vec<String>,
    /// The rules that have no attribute.
    pub(super) rest: Document,
    /// The schema of the type inside.
    pub(super) inside: Option<Document>,
}

/// The kind of a field's values, or of the elements of its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Number,
    Text,
    Item,
    Other,
}

impl FieldRules {
    pub(super) fn of(ty: &Type, attributes: Vec<String>) -> Self {
        let inner = ty.innermost();
        let is_flat = ty.containers() <= 1 && !has_map(ty);
        let named =
            |names: &[&str]| is_flat && matches!(inner, Type::Plain(name) if names.contains(name));
        let holds = if named(&["i32", "i64", "f64", "bson::Decimal128"]) {
            Holds::Number
        } else if named(&["String"]) {
            Holds::Text
        } else if is_flat && ty.item().is_some() {
            Holds::Item
        } else {
            Holds::Other
        };
        Self {
            holds,
            is_list: ty.containers() == 1 && !has_map(ty),
            types: types(ty),
            attributes,
            rest: Document::new(),
            inside: None,
        }
    }

    pub(super) fn attributes(&self) -> Vec<String> {
        self.attributes.clone()
    }

    /// Adds the schema of the field.
    pub(super) fn add(&mut self, schema: &Document) {
        let mut range = Vec::new();
        let mut inside = Document::new();
        for (name, value) in schema {
            match name.as_str() {
                "title" | "description" => {}
                "bsonType" | "type" => self.check_types(schema, name, value),
                "minItems" | "maxItems" | "uniqueItems" if self.is_list => {
                    self.list(name, value);
                }
                "items" if self.is_list => match value {
                    Bson::Document(items) => self.elements(items, &mut range, &mut inside),
                    other => self.leave(name, other),
                },
                _ if self.is_list => self.leave(name, value),
                _ => self.value(schema, name, value, &mut range, &mut inside),
            }
        }
        if !range.is_empty() {
            self.attributes.push(format!("range({})", range.join(", ")));
        }
        if !inside.is_empty() {
            self.inside = Some(inside);
        }
    }

    fn leave(&mut self, name: &str, value: &Bson) {
        self.rest.insert(name, value.clone());
    }

    /// The types follow from that of the field, unless they differ.
    fn check_types(&mut self, schema: &Document, name: &str, value: &Bson) {
        let allowed = aliases(schema);
        // An `Option` that is left out where it is `None` is never null.
        let is_known = |ty: &&'static str| *ty == "null" || allowed.contains(ty);
        let is_same = self.types.iter().all(is_known)
            && allowed.iter().all(|alias| self.types.contains(alias));
        if !self.types.is_empty() && !is_same {
            self.leave(name, value);
        }
    }

    fn list(&mut self, name: &str, value: &Bson) {
        let count = integer(value).filter(|count| (0..=i64::from(u32::MAX)).contains(count));
        match (name, count) {
            ("uniqueItems", _) if is_truthy(value) => {
                self.attributes.push("unique_items".to_owned());
            }
            ("uniqueItems", _) | ("minItems", Some(0)) => {}
            ("minItems", Some(least)) => self.items(&format!("min = {}", separated(least))),
            ("maxItems", Some(most)) if most > 0 => {
                for (words, limit) in LIMITS {
                    let mut own = self.attributes.iter_mut();
                    if let Some(bound) = own.find(|one| one.starts_with(words)) {
                        *bound = if most <= limit {
                            format!("{words}, max = {})", separated(most))
                        } else {
                            let max = separated(most);
                            format!("{words}, max = {max}, allow = \"the validator allows them\")")
                        };
                        return;
                    }
                }
                self.items(&format!("max = {}", separated(most)));
            }
            (name, _) => self.leave(name, value),
        }
    }

    /// Adds to `items(…)`.
    fn items(&mut self, bound: &str) {
        let mut own = self.attributes.iter_mut();
        match own.find(|one| one.starts_with("items(")) {
            Some(items) => *items = format!("{}, {bound})", items.trim_end_matches(')')),
            None => self.attributes.push(format!("items({bound})")),
        }
    }

    /// The schema of the elements, whose bounds stand on the list.
    fn elements(&mut self, items: &Document, range: &mut Vec<String>, inside: &mut Document) {
        let mut left = Document::new();
        std::mem::swap(&mut left, &mut self.rest);
        for (name, value) in items {
            match name.as_str() {
                "title" | "description" | "bsonType" | "type" => {}
                _ => self.value(items, name, value, range, inside),
            }
        }
        std::mem::swap(&mut left, &mut self.rest);
        if !left.is_empty() {
            self.rest.insert("items", left);
        }
    }

    /// Adds a keyword that applies to values other than arrays.
    fn value(
        &mut self,
        schema: &Document,
        name: &str,
        value: &Bson,
        range: &mut Vec<String>,
        inside: &mut Document,
    ) {
        if self.holds == Holds::Item {
            inside.insert(name, value.clone());
            return;
        }
        match name {
            "minimum" | "maximum" if self.holds == Holds::Number => {
                self.bound(schema, name, value, range);
            }
            "exclusiveMinimum" | "exclusiveMaximum"
                if self.holds == Holds::Number && value.as_bool().is_some() => {}
            "minLength" | "maxLength" if self.holds == Holds::Text => match length(value) {
                Some(length) => self.length(name, length),
                None => self.leave(name, value),
            },
            "pattern" if self.holds == Holds::Text => {
                match value.as_str().filter(|one| is_pattern(one)) {
                    Some(pattern) => self
                        .attributes
                        .push(format!("pattern = {}", string(pattern))),
                    None => self.leave(name, value),
                }
            }
            "enum" if self.holds == Holds::Text => match strings(value) {
                Some(strings) => self
                    .attributes
                    .push(format!("one_of({})", strings.join(", "))),
                None => self.leave(name, value),
            },
            _ => self.leave(name, value),
        }
    }

    fn bound(&mut self, schema: &Document, name: &str, value: &Bson, range: &mut Vec<String>) {
        let number = match value {
            Bson::Int32(number) => Some(separated(i64::from(*number))),
            // The least `long` has no positive counterpart, whose sign a literal could change.
            Bson::Int64(number) => Some(separated(*number)),
            Bson::Double(number) => double(*number).filter(|text| !text.contains('e')),
            _ => None,
        };
        let Some(number) = number else {
            self.leave(name, value);
            return;
        };
        let (word, exclusive) = if name == "minimum" {
            ("min", "exclusiveMinimum")
        } else {
            ("max", "exclusiveMaximum")
        };
        let is_exclusive = schema.get_bool(exclusive).unwrap_or(false);
        let prefix = if is_exclusive { "exclusive_" } else { "" };
        range.push(format!("{prefix}{word} = {number}"));
    }

    fn length(&mut self, name: &str, length: i64) {
        let word = if name == "minLength" { "min" } else { "max" };
        let bound = format!("{word} = {}", separated(length));
        let mut own = self.attributes.iter_mut();
        match own.find(|one| one.starts_with("length(")) {
            Some(length) => *length = format!("{}, {bound})", length.trim_end_matches(')')),
            None => self.attributes.push(format!("length({bound})")),
        }
    }
}

fn has_map(ty: &Type) -> bool {
    match ty {
        Type::Map(_) => true,
        Type::Option(inner) | Type::Vec(inner) | Type::Boxed(inner) => has_map(inner),
        _ => false,
    }
}

/// The aliases that the generated validator has for a type; none if they are not known here.
fn types(ty: &Type) -> Vec<&'static str> {
    let mut types = match ty.stored() {
        Type::Vec(_) => vec!["array"],
        Type::Map(_) => vec!["object"],
        Type::Id(_) => vec!["objectId"],
        Type::Plain(name) => match *name {
            "f64" => vec!["double"],
            "String" => vec!["string"],
            "bson::Document" => vec!["object"],
            "bson::Binary" | "bson::Uuid" => vec!["binData"],
            "ObjectId" => vec!["objectId"],
            "bool" => vec!["bool"],
            "DateTime" => vec!["date"],
            "bson::Regex" => vec!["regex"],
            "i32" => vec!["int"],
            "bson::Timestamp" => vec!["timestamp"],
            "i64" => vec!["long"],
            "bson::Decimal128" => vec!["decimal"],
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    if matches!(ty, Type::Option(_)) {
        types.push("null");
    }
    types
}

fn length(value: &Bson) -> Option<i64> {
    integer(value).filter(|length| (0..=i64::from(u32::MAX)).contains(length))
}

/// Whether the derive takes the pattern.
fn is_pattern(pattern: &str) -> bool {
    fancy_regex::Regex::new(pattern).is_ok()
}

/// Different strings as literals, if all values are strings.
fn strings(value: &Bson) -> Option<Vec<String>> {
    let mut strings: Vec<String> = Vec::new();
    for one in value.as_array()? {
        let one = string(one.as_str()?);
        if !strings.contains(&one) {
            strings.push(one);
        }
    }
    (!strings.is_empty()).then_some(strings)
}
