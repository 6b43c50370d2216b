//! Replies without the order of what is in them.

use odm::bson::{Bson, Document, doc};

use crate::cases::Order;
use crate::compare::normal;
use crate::json::json;

/// A reply with its fields by name, at every depth, and without what no two replies share.
pub(super) fn in_order(reply: &Document) -> String {
    json(&by_name(normal(reply, Order::Exact), &|values| values))
}

/// The same with the values of all arrays in an order of their own, too.
pub(super) fn sorted(reply: &Document) -> String {
    let sort = |mut values: Vec<Bson>| {
        values.sort_by_cached_key(|value| json(&doc! { "": value.clone() }));
        values
    };
    json(&by_name(normal(reply, Order::Exact), &sort))
}

fn by_name(document: Document, arrange: &dyn Fn(Vec<Bson>) -> Vec<Bson>) -> Document {
    let mut fields: Vec<_> = document.into_iter().collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    fields
        .into_iter()
        .map(|(name, value)| (name, value_by_name(value, arrange)))
        .collect()
}

fn value_by_name(value: Bson, arrange: &dyn Fn(Vec<Bson>) -> Vec<Bson>) -> Bson {
    match value {
        Bson::Document(document) => by_name(document, arrange).into(),
        Bson::Array(values) => arrange(
            values
                .into_iter()
                .map(|value| value_by_name(value, arrange))
                .collect(),
        )
        .into(),
        other => other,
    }
}
