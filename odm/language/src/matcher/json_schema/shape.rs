//! Tests the rules about types and fields, which most schemas consist of, in one walk over a document.
//!
//! Tested rule by rule, a schema of 20 properties searches each document for 20 names, and twice for the required ones.

use std::sync::Arc;

use bson::RawBsonRef;
use bson::spec::ElementType;
use smallvec::SmallVec;

use super::eval::{Answer, Considered, all};
use super::{Demand, Rule, Schema};
use crate::value::bson_type::TypeSet;
use crate::value::path::Path;
use crate::value::raw::{Element, Elements, Name};

/// The rules of a schema, in the order of the fastest test.
#[derive(Debug, Clone)]
pub(super) struct TypedRules {
    /// The types that values may have.
    types: Option<TypeSet>,
    /// The rules about the fields of a document.
    fields: Option<Fields>,
    /// The schema of every item of an array.
    items: Option<Arc<Schema>>,
    /// The indexes of the remaining rules.
    rest: Vec<usize>,
}

impl TypedRules {
    pub(super) fn of(rules: &[Rule]) -> Self {
        let fields = Fields::of(rules);
        let mut shape = Self {
            types: None,
            items: None,
            rest: Vec::new(),
            fields: None,
        };
        for (index, rule) in rules.iter().enumerate() {
            match &rule.demand {
                Demand::Type(types) => shape.types = Some(*types),
                Demand::EachItem(schema) => shape.items = Some(Arc::clone(schema)),
                demand if fields.is_some() && is_of_fields(demand) => {}
                _ => shape.rest.push(index),
            }
        }
        shape.fields = fields;
        shape
    }

    /// Whether a value satisfies the rules of the schema that this shape belongs to.
    pub(super) fn admits(&self, rules: &[Rule], value: RawBsonRef<'_>) -> Answer {
        let bytes = match value {
            RawBsonRef::Document(document) => document.as_bytes(),
            RawBsonRef::Array(array) => array.as_bytes(),
            _ => &[],
        };
        Ok(self.admits_parts(value.element_type(), bytes)? && self.admits_rest(rules, value)?)
    }

    /// Like [`Self::admits`], for an element that is decoded only if the remaining rules need it.
    fn admits_element(&self, rules: &[Rule], element: &Element<'_>) -> Answer {
        let Some(kind) = element.element_type() else {
            return Ok(false);
        };
        if !self.admits_parts(kind, element.value_bytes())? {
            return Ok(false);
        }
        if self.rest.is_empty() {
            return Ok(true);
        }
        match element.value() {
            Some(value) => self.admits_rest(rules, value),
            None => Ok(false),
        }
    }

    /// Whether a value has an allowed type, and valid fields or items.
    fn admits_parts(&self, kind: ElementType, bytes: &[u8]) -> Answer {
        if self.types.is_some_and(|types| !types.contains(kind)) {
            return Ok(false);
        }
        match kind {
            ElementType::EmbeddedDocument => match &self.fields {
                Some(fields) => fields.admits(bytes),
                None => Ok(true),
            },
            ElementType::Array => match &self.items {
                Some(schema) => all(Elements::new(bytes), |item| {
                    schema.shape.admits_element(&schema.rules, &item)
                }),
                None => Ok(true),
            },
            _ => Ok(true),
        }
    }

    fn admits_rest(&self, rules: &[Rule], value: RawBsonRef<'_>) -> Answer {
        let rest = self.rest.iter().filter_map(|index| rules.get(*index));
        all(rest, |rule| rule.admits(Considered::one(&value)))
    }
}

/// The rules about fields: `properties`, `required`, and `additionalProperties` without patterns.
#[derive(Debug, Clone)]
struct Fields {
    /// In the order of the schema, which is the order of most documents.
    named: Vec<Field>,
    /// Their name words and their places in `named`, sorted.
    by_word: Vec<(u64, usize)>,
    /// How many of them are required.
    required: usize,
    others: Others,
}

#[derive(Debug, Clone)]
struct Field {
    name: Path,
    schema: Option<Arc<Schema>>,
    is_required: bool,
    /// Whether `properties` names it. If not, `others` applies to it, even if it is required.
    is_property: bool,
}

/// The rule for fields that are not properties.
#[derive(Debug, Clone)]
enum Others {
    Allowed,
    Forbidden,
    Like(Arc<Schema>),
}

/// Whether [`Fields`] checks this demand.
fn is_of_fields(demand: &Demand) -> bool {
    match demand {
        Demand::Properties(_) | Demand::Required(_) => true,
        Demand::FurtherProperties(_, patterns, _) => patterns.is_empty(),
        _ => false,
    }
}

impl Fields {
    /// Returns `None` if no rule is about fields, or if a name has dots or occurs twice.
    fn of(rules: &[Rule]) -> Option<Self> {
        let mut it = Self {
            named: Vec::new(),
            by_word: Vec::new(),
            required: 0,
            others: Others::Allowed,
        };
        let mut is_any = false;
        let of_fields = || rules.iter().filter(|rule| is_of_fields(&rule.demand));
        let is_properties = |rule: &&Rule| matches!(rule.demand, Demand::Properties(_));
        // Properties come first: documents usually follow their order, and `required` lists only some of the fields.
        let properties = of_fields().filter(is_properties);
        for rule in properties.chain(of_fields().filter(|rule| !is_properties(rule))) {
            is_any = true;
            match &rule.demand {
                Demand::Properties(properties) => {
                    for property in properties {
                        let field = it.field(&property.path)?;
                        if std::mem::replace(&mut field.is_property, true) {
                            return None;
                        }
                        field.schema = Some(Arc::clone(&property.schema));
                    }
                }
                Demand::Required(paths) => {
                    for path in paths {
                        it.field(path)?.is_required = true;
                    }
                }
                Demand::FurtherProperties(_, _, schema) => {
                    it.others = match schema {
                        Some(schema) => Others::Like(Arc::clone(schema)),
                        None => Others::Forbidden,
                    };
                }
                _ => {}
            }
        }
        it.required = it.named.iter().filter(|field| field.is_required).count();
        is_any.then_some(it)
    }

    /// The field with this name, added if it is new; `None` if the path has dots.
    fn field(&mut self, path: &Path) -> Option<&mut Field> {
        let name = path.only()?;
        let at = self.find(name).unwrap_or_else(|| {
            let entry = (name.word(), self.named.len());
            let place = self.by_word.partition_point(|other| *other < entry);
            self.by_word.insert(place, entry);
            self.named.push(Field {
                name: path.clone(),
                schema: None,
                is_required: false,
                is_property: false,
            });
            entry.1
        });
        self.named.get_mut(at)
    }

    fn find(&self, name: Name<'_>) -> Option<usize> {
        let from = self
            .by_word
            .partition_point(|(word, _)| *word < name.word());
        let same = self.by_word.get(from..)?.iter();
        let mut same = same.take_while(|(word, _)| *word == name.word());
        same.find_map(|(_, at)| {
            let is_it = self.named.get(*at)?.name.as_str().as_bytes() == name.bytes();
            is_it.then_some(*at)
        })
    }

    fn admits(&self, document: &[u8]) -> Answer {
        let mut seen: SmallVec<[bool; 64]> = SmallVec::from_elem(false, self.named.len());
        let mut missing = self.required;
        let mut next = 0;
        for element in Elements::new(document) {
            let expected = self.named.get(next);
            let at = match expected.and_then(|field| field.name.only()) {
                Some(name) if element.is(name) => Some(next),
                _ => self.find(element.name()),
            };
            let known = at.and_then(|at| Some((at, self.named.get(at)?, seen.get_mut(at)?)));
            let is_property = known
                .as_ref()
                .is_some_and(|(_, field, _)| field.is_property);
            if !is_property && !self.others.admit(&element)? {
                return Ok(false);
            }
            let Some((at, field, seen)) = known else {
                continue;
            };
            next = at + 1;
            // Of two fields with the same name, the first counts.
            if std::mem::replace(seen, true) {
                continue;
            }
            missing -= usize::from(field.is_required);
            if let Some(schema) = &field.schema
                && !schema.shape.admits_element(&schema.rules, &element)?
            {
                return Ok(false);
            }
        }
        Ok(missing == 0)
    }
}

impl Others {
    fn admit(&self, element: &Element<'_>) -> Answer {
        match self {
            Self::Allowed => Ok(true),
            Self::Forbidden => Ok(false),
            Self::Like(schema) => schema.shape.admits_element(&schema.rules, element),
        }
    }
}

#[cfg(test)]
mod tests;
