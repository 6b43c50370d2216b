//! The keys of a sort, as pages continue them.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};

use super::can_not_continue;
use super::declared::{Declared, declared};
use crate::error::{Error, Result};
use crate::model::{KeyKind, ModelMeta, name};

/// One key of the sort.
pub(super) struct Key {
    pub(super) path: String,
    ascending: bool,
    pub(super) declared: Declared,
}

/// The keys of a sort, continued by `_id` unless they are unique without it.
pub(super) fn keys(sort: &Document, model: &ModelMeta, collation: bool) -> Result<Vec<Key>> {
    let mut total = sort.clone();
    make_total(&mut total, model, collation);
    let keys = total.iter();
    keys.map(|(path, direction)| Key::new(path, direction, model))
        .collect()
}

/// Adds `_id` to a sort in which two documents can be equal, in the direction of the last key.
pub(super) fn make_total(sort: &mut Document, model: &ModelMeta, collation: bool) {
    // Under a collation, values are equal that a unique index tells apart.
    if sort.contains_key("_id") || (!collation && has_unique_keys(sort, model)) {
        return;
    }
    let descends = matches!(sort.values().last(), Some(Bson::Int32(-1)));
    sort.insert("_id", if descends { -1 } else { 1 });
}

/// Whether the sort has all the keys of a unique index that has exactly one entry for each document.
fn has_unique_keys(sort: &Document, model: &ModelMeta) -> bool {
    model.indexes.iter().any(|index| {
        let is_total = index.unique
            && !index.sparse
            && index.partial.is_none()
            && index.collation.is_none()
            && !index.keys.is_empty();
        is_total
            && index.keys.iter().all(|key| {
                let is_ordered = matches!(key.kind, KeyKind::Ascending | KeyKind::Descending);
                let found = name::resolve((model.embedded)(), key.path);
                is_ordered
                    && found.is_ok_and(|found| {
                        !found.through_array && sort.contains_key(found.path.to_string())
                    })
            })
    })
}

impl Key {
    fn new(path: &str, direction: &Bson, model: &ModelMeta) -> Result<Self> {
        let ascending = match direction {
            Bson::Int32(1) => true,
            Bson::Int32(-1) => false,
            other => {
                return Err(Error::usage(format!(
                    "`after` continues a sort by fields, and this one sorts by {other}"
                ))
                .with_path(path));
            }
        };
        let declared = declared(model, path);
        if declared == Declared::List {
            return Err(can_not_continue(path, AN_ARRAY));
        }
        Ok(Self {
            path: path.to_owned(),
            ascending,
            declared,
        })
    }

    pub(super) fn in_sort(&self) -> (String, Bson) {
        let direction = if self.ascending { 1 } else { -1 };
        (self.path.clone(), Bson::Int32(direction))
    }

    /// The value in a document, where a missing one sorts as null.
    pub(super) fn value(&self, document: &RawDocument) -> Result<Bson> {
        let mut at = RawBsonRef::Document(document);
        for name in self.path.split('.') {
            at = match at {
                RawBsonRef::Document(document) => {
                    match document.get(name).map_err(Error::encode)? {
                        Some(value) => value,
                        None => return Ok(Bson::Null),
                    }
                }
                RawBsonRef::Array(_) => break,
                _ => return Ok(Bson::Null),
            };
        }
        Bson::try_from(at).map_err(Error::encode)
    }

    /// Why no page can continue behind this value.
    pub(super) fn objection(value: &Bson) -> Option<&'static str> {
        match value {
            Bson::Array(_) => Some(AN_ARRAY),
            Bson::Undefined => Some("`undefined` compares with nothing"),
            value if !is_shallow(value, MAX_DEPTH) => Some("its value is nested too deeply"),
            _ => None,
        }
    }

    /// The condition of the documents that this key alone sorts after the value.
    ///
    /// Expressions compare values of all types, in the order of a sort. To them a missing field is less than null, with
    /// which it sorts, so that null has a condition of its own.
    pub(super) fn behind(&self, value: &Bson) -> Document {
        let operator = match (self.ascending, value) {
            (false, Bson::Null) => return doc! {&self.path: Bson::MinKey},
            (true, _) => "$gt",
            (false, _) => "$lt",
        };
        doc! {"$expr": {operator: [self.in_expression(), literal(value)]}}
    }

    pub(super) fn in_expression(&self) -> String {
        format!("${}", self.path)
    }
}

/// A value in an expression.
fn literal(value: &Bson) -> Bson {
    let is_plain = match value {
        Bson::String(text) => !text.starts_with('$'),
        Bson::Document(_) | Bson::Array(_) => false,
        _ => true,
    };
    if is_plain {
        return value.clone();
    }
    Bson::Document(doc! {"$literal": value.clone()})
}

const AN_ARRAY: &str = "arrays sort by one of their elements";

/// The levels that a value may have; MongoDB refuses commands with more than 200.
const MAX_DEPTH: usize = 100;

fn is_shallow(value: &Bson, levels: usize) -> bool {
    let Some(inside) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Bson::Document(document) => document.values().all(|value| is_shallow(value, inside)),
        Bson::Array(array) => array.iter().all(|value| is_shallow(value, inside)),
        Bson::JavaScriptCodeWithScope(code) => {
            code.scope.values().all(|value| is_shallow(value, inside))
        }
        _ => true,
    }
}
