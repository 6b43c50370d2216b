//! The same documents in another order.

use odm::bson::Document;

use crate::cases::Order;
use crate::compare::normal;

use super::Exception;
use super::replies::sorted;
use super::seen::{Seen, has_number};

pub(super) const KNOWN: &[Exception] = &[
    ("Sorts by a path with a number in it", by_number),
    ("Equal keys", limited),
];

fn by_number(seen: &Seen<'_>) -> bool {
    let has_path = |sort: &Document| sort.keys().any(|path| has_number(path));
    let found = |reply: &Document| normal(reply, Order::Any);
    seen.both_answer()
        && seen.command.contains_key("projection")
        && seen.command.get_document("sort").is_ok_and(has_path)
        && found(seen.memory) == found(seen.server)
}

fn limited(seen: &Seen<'_>) -> bool {
    seen.both_answer()
        && seen.has(&["$sort", "sort"])
        && seen.has(&["$limit", "limit", "$skip", "skip"])
        && sorted(seen.memory) == sorted(seen.server)
}
