//! What a server finds by an index, and what it takes one for.

use odm::bson::{Bson, Document};

use crate::json::json;

use super::Exception;
use super::seen::{Seen, has_number, is_number, mentions};

pub(super) const KNOWN: &[Exception] = &[
    ("Wildcard indexes as hints", wildcard_hints),
    ("Ranges of all values", everything),
    ("null by an index of a path with a number", null_by_number),
    (
        "null by an index of a path with a number",
        compared_by_number,
    ),
    ("null by an index of a path with a number", number_within),
    ("null by an index of a path with a number", nested_ranges),
    ("null by an index of a path with a number", nothing),
    ("Null ranges by a wildcard or sparse index", null_ranges),
    ("Null ranges by a wildcard or sparse index", compared),
    ("Names with a dot by a wildcard index", dotted),
];

fn wildcard_hints(seen: &Seen<'_>) -> bool {
    let has_no_plan = |reply: &Document| json(reply).contains("planner returned error");
    let unclear = |key: &str, value: &Bson| {
        has_number(key)
            || matches!(value, Bson::Array(values) if values.is_empty())
            || matches!(value, Bson::Document(fields) if fields.is_empty())
            || matches!(
                key,
                "$expr" | "$jsonSchema" | "$exists" | "$ne" | "$not" | "$nin" | "$nor"
            )
            || matches!((key, value), ("$all", Bson::Array(values)) if values.iter().any(is_unclear))
            || *value == Bson::Null
    };
    has_no_plan(seen.memory) != has_no_plan(seen.server)
        && (seen.mentions(&unclear) || seen.indexed(&|key, _| key == "partialFilterExpression"))
}

/// A pattern or an empty document, for which a wildcard index has no bounds of its own.
fn is_unclear(value: &Bson) -> bool {
    match value {
        Bson::RegularExpression(_) => true,
        Bson::Document(fields) => fields.is_empty(),
        _ => false,
    }
}

fn everything(seen: &Seen<'_>) -> bool {
    let all = |key: &str, value: &Bson| {
        matches!(
            (key, value),
            ("$gte" | "$gt", Bson::MinKey) | ("$lte" | "$lt", Bson::MaxKey)
        )
    };
    seen.finds_more() && seen.mentions(&all)
}

/// What is null, and so, the other way round, what is not.
fn null_by_number(seen: &Seen<'_>) -> bool {
    let is_other = seen.has(&["$ne", "$nin", "$not", "$nor"]);
    (seen.loses() || is_other && seen.finds_more())
        && has_numbered_index(seen)
        && seen.mentions(&|_, value| has_null(value))
}

/// $expr takes an array for what is found within its elements, the keys of such an index are the element's.
fn compared_by_number(seen: &Seen<'_>) -> bool {
    seen.loses() && has_numbered_index(seen) && seen.has(&["$expr"])
}

/// A number that stands within an $elemMatch for an element of an array in an array.
fn number_within(seen: &Seen<'_>) -> bool {
    seen.loses()
        && seen.indexed(&|key, _| key.ends_with("$**"))
        && seen.has(&["$elemMatch"])
        && seen.mentions(&|key, _| is_number(key) || has_number(key))
}

fn has_numbered_index(seen: &Seen<'_>) -> bool {
    seen.indexed(&|key, _| key.split('.').skip(1).any(is_number))
}

fn has_null(value: &Bson) -> bool {
    match value {
        Bson::Null => true,
        Bson::Array(values) => values.contains(&Bson::Null),
        _ => false,
    }
}

/// Neither null nor an empty array: by an index a server loses documents with an empty array on the way.
fn nothing(seen: &Seen<'_>) -> bool {
    let empty = Bson::Array(Vec::new());
    let is_neither = |key: &str, value: &Bson| {
        key == "$nin"
            && has_null(value)
            && value
                .as_array()
                .is_some_and(|values| values.contains(&empty))
    };
    seen.loses() && seen.indexed(&|_, _| true) && seen.mentions(&is_neither)
}

fn nested_ranges(seen: &Seen<'_>) -> bool {
    let nested = |key: &str, value: &Bson| {
        matches!(key, "$gt" | "$gte" | "$lt" | "$lte")
            && value
                .as_array()
                .is_some_and(|values| matches!(values.first(), Some(Bson::Array(_))))
    };
    seen.loses() && seen.indexed(&|_, _| true) && seen.mentions(&nested)
}

/// What $expr compares a missing field with.
fn compared(seen: &Seen<'_>) -> bool {
    seen.loses() && lacks_missing(seen) && seen.has(&["$expr"])
}

/// A document was written with such a name.
fn dotted(seen: &Seen<'_>) -> bool {
    let has_dot = |document: &Document| mentions(document, &|key, _| key.contains('.'));
    let mut before = seen.before.iter();
    seen.loses()
        && seen.indexed(&|key, _| key.ends_with("$**"))
        && before.any(|step| {
            let documents = step.command.get_array("documents").into_iter().flatten();
            let mut documents = documents.filter_map(Bson::as_document);
            documents.any(has_dot)
        })
}

fn null_ranges(seen: &Seen<'_>) -> bool {
    let range = |key: &str, value: &Bson| match key {
        "$gte" => matches!(value, Bson::Null | Bson::MinKey),
        "$lte" => matches!(value, Bson::Null | Bson::MaxKey),
        "$gt" => *value == Bson::MinKey,
        "$lt" => *value == Bson::MaxKey,
        _ => false,
    };
    seen.loses() && lacks_missing(seen) && seen.mentions(&range)
}

/// Whether an index has no key of a document without the field.
fn lacks_missing(seen: &Seen<'_>) -> bool {
    seen.indexed(&|key, _| key.ends_with("$**") || key == "sparse")
}
