//! Differences that are known: each has its reason in the book's chapter on limits.

use odm::bson::{Bson, Document};

use crate::cases::Order;
use crate::compare::normal;
use crate::json::json;

/// The name of the exception that covers this difference.
pub(crate) fn name(
    command: &Document,
    memory: &Document,
    server: &Document,
) -> Option<&'static str> {
    let (here, there) = (memory.contains_key("code"), server.contains_key("code"));
    let message = |reply: &Document| reply.get_str("errmsg").unwrap_or("").to_owned();
    let both = |text: &str| message(memory).contains(text) && message(server).contains(text);
    if both("hint provided does not correspond to an existing index") {
        return Some("the picture of a filter where a hint is refused");
    }
    if both("'newRoot' expression") {
        return Some("the picture of a document that $replaceRoot refuses");
    }
    if both("is invalid") && (both("locale:")) {
        return Some("the picture of a collation that is refused");
    }
    if here != there
        && mentions(command, &|key, value| {
            key == "collation" && value.as_document().is_some()
        })
        && message(server).contains("Cannot index type Symbol with a collation")
    {
        return Some("symbols in an index with a collation");
    }
    if json(server).contains("planner returned error") && !json(memory).contains("errmsg") {
        return Some("wildcard indexes as hints of a query that they can't serve");
    }
    let stages = command.get_array("pipeline").map_or(0, Vec::len);
    if mentions(command, &|key, _| key == "$group") {
        if here || there {
            return Some("errors within $group: the server's other execution engine has its own");
        }
        let written = |reply: &Document| json(reply);
        if written(memory).contains("$symbol") || written(server).contains("$numberDecimal") {
            return Some("symbols and overflows within $group");
        }
    }
    if !here && !there && stages > 1 && json(&in_order(memory)) == json(&in_order(server)) {
        return Some("fields dropped and computed again: the server remembers their old place");
    }
    if here && !there && stages > 1 {
        return Some("errors in documents that a later stage drops: the server drops them first");
    }
    if here && !there && mentions(command, &|key, _| key == "$zip") {
        return Some("errors in the inputs of $zip behind a null one");
    }
    if here && is_unread(command) {
        return Some("errors of a batch of no documents: the server meets them in getMore");
    }
    let null_range =
        |key: &str, value: &Bson| matches!(key, "$gte" | "$lte") && *value == Bson::Null;
    if !here && !there && mentions(command, &null_range) {
        return Some("null ranges: the server loses documents by a wildcard index");
    }
    let nan = |key: &str, value: &Bson| {
        key == "multipleOf"
            && match value {
                Bson::Double(number) => number.is_nan(),
                Bson::Decimal128(number) => number.to_string() == "NaN",
                _ => false,
            }
    };
    if there && mentions(command, &nan) {
        return Some("multipleOf: NaN, which the server refuses at some places");
    }
    if mentions(command, &|key, _| key == "upsert")
        && mentions(command, &|key, _| key == "$jsonSchema")
    {
        return Some("upserts by a $jsonSchema that nothing can match");
    }
    None
}

/// A document with its fields by name, at every depth, and without what no two replies share.
fn in_order(document: &Document) -> Document {
    let mut fields: Vec<_> = normal(document, Order::Exact).into_iter().collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    fields
        .into_iter()
        .map(|(name, value)| (name, value_in_order(value)))
        .collect()
}

fn value_in_order(value: Bson) -> Bson {
    match value {
        Bson::Document(document) => in_order(&document).into(),
        Bson::Array(values) => values
            .into_iter()
            .map(value_in_order)
            .collect::<Vec<_>>()
            .into(),
        other => other,
    }
}

fn is_unread(command: &Document) -> bool {
    let cursor = command.get_document("cursor").unwrap_or(command);
    matches!(cursor.get("batchSize"), Some(Bson::Int32(0))) || command.contains_key("getMore")
}

fn mentions(document: &Document, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
    document
        .iter()
        .any(|(key, value)| wanted(key, value) || within(value, wanted))
}

fn within(value: &Bson, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
    match value {
        Bson::Document(document) => mentions(document, wanted),
        Bson::Array(values) => values.iter().any(|value| within(value, wanted)),
        _ => false,
    }
}
