//! What a server finds by an index, and what it takes one for.

use odm::bson::{Bson, Document};

use crate::json::json;

use super::Exception;
use super::seen::{Seen, has_number, is_number};

pub(super) const KNOWN: &[Exception] = &[
    ("Wildcard indexes as hints", wildcard_hints),
    ("Ranges of all values", everything),
    ("null by an index of a path with a number", null_by_number),
    ("null by an index of a path with a number", nested_ranges),
    ("Null ranges by a wildcard index", null_ranges),
];

fn wildcard_hints(seen: &Seen<'_>) -> bool {
    let has_no_plan = |reply: &Document| json(reply).contains("planner returned error");
    let unclear = |key: &str, value: &Bson| {
        has_number(key)
            || matches!(value, Bson::Array(values) if values.is_empty())
            || matches!(
                key,
                "$expr" | "$jsonSchema" | "$exists" | "$ne" | "$not" | "$nin" | "$nor"
            )
            || *value == Bson::Null
    };
    has_no_plan(seen.memory) != has_no_plan(seen.server) && seen.mentions(&unclear)
}

fn everything(seen: &Seen<'_>) -> bool {
    let all = |key: &str, value: &Bson| {
        matches!(
            (key, value),
            ("$gte" | "$gt", Bson::MinKey) | ("$lte" | "$lt", Bson::MaxKey)
        )
    };
    seen.both_answer() && seen.mentions(&all)
}

fn null_by_number(seen: &Seen<'_>) -> bool {
    seen.both_answer()
        && seen.indexed(&|key, _| key.split('.').skip(1).any(is_number))
        && seen.mentions(&|_, value| *value == Bson::Null)
}

fn nested_ranges(seen: &Seen<'_>) -> bool {
    let nested = |key: &str, value: &Bson| {
        matches!(key, "$gt" | "$gte" | "$lt" | "$lte")
            && value
                .as_array()
                .is_some_and(|values| matches!(values.first(), Some(Bson::Array(_))))
    };
    seen.both_answer() && seen.indexed(&|_, _| true) && seen.mentions(&nested)
}

fn null_ranges(seen: &Seen<'_>) -> bool {
    let range = |key: &str, value: &Bson| matches!(key, "$gte" | "$lte") && *value == Bson::Null;
    seen.both_answer() && seen.mentions(&range)
}
