//! Refusals and duplicates that are shown differently.

use odm::bson::{Bson, Document};

use crate::cases::Order;
use crate::compare::normal;
use crate::json::json;

use super::Exception;
use super::seen::{Seen, message};

pub(super) const KNOWN: &[Exception] = &[
    ("How a filter is printed", of_filter),
    ("Pictures in messages", of_document),
    ("Refusals that show half a character", half_a_character),
    ("Plans", of_plan),
    ("Sort keys", of_key),
];

fn of_filter(seen: &Seen<'_>) -> bool {
    let shown = [
        "hint provided does not correspond to an existing index",
        "When using min()/max() a hint of which index to use must be provided",
        "Number of statement ids must match the number of batch entries",
    ];
    shown.iter().any(|text| seen.both_say(text))
}

fn of_document(seen: &Seen<'_>) -> bool {
    seen.both_say("'newRoot' expression") || seen.both_say("is invalid") && seen.both_say("locale:")
}

fn half_a_character(seen: &Seen<'_>) -> bool {
    message(seen.server).contains("Invalid UTF-8")
}

fn of_key(seen: &Seen<'_>) -> bool {
    let [here, there] = [seen.memory, seen.server].map(unhexed);
    here.is_some() && here == there
}

/// What `explain` shows of a filter and of a plan.
fn of_plan(seen: &Seen<'_>) -> bool {
    [seen.memory, seen.server]
        .iter()
        .all(|reply| reply.contains_key("queryPlanner"))
}

/// The reply to a write that met a duplicate key, without the bytes that stand for strings.
fn unhexed(reply: &Document) -> Option<String> {
    if !json(reply).contains("hexEncoded") {
        return None;
    }
    let mut reply = normal(reply, Order::Exact);
    let fields = ["errmsg", "keyValue"];
    for field in fields {
        reply.remove(field);
    }
    if let Ok(errors) = reply.get_array_mut("writeErrors") {
        for error in errors.iter_mut().filter_map(Bson::as_document_mut) {
            for field in fields {
                error.remove(field);
            }
        }
    }
    Some(json(&reply))
}
