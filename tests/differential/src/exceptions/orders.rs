//! The same documents in another order.

use odm::bson::{Bson, Document};

use crate::json::json;

use super::Exception;
use super::replies::sorted;
use super::seen::{Seen, has_number};

pub(super) const KNOWN: &[Exception] = &[
    ("Sorts by a path with a number in it", by_number),
    ("Equal keys", limited),
    ("Equal keys", equal_values),
    ("Collations", newer_collations),
    ("Symbols and collations", symbols),
    ("Order by an index", first_of_others),
    ("Order by an index", first_by_wildcard),
];

fn by_number(seen: &Seen<'_>) -> bool {
    let has_path = |sort: &Document| sort.keys().any(|path| has_number(path));
    seen.both_answer()
        && seen.command.contains_key("projection")
        && seen.command.get_document("sort").is_ok_and(has_path)
        && sorted(seen.memory) == sorted(seen.server)
}

/// Which of the values that a collation makes equal.
fn equal_values(seen: &Seen<'_>) -> bool {
    let count = |reply: &Document| reply.get_array("values").map(Vec::len).ok();
    seen.command.contains_key("distinct")
        && (seen.command.contains_key("collation") || seen.was_collated())
        && seen.indexed(&|_, _| true)
        && count(seen.memory).is_some()
        && count(seen.memory) == count(seen.server)
}

/// Latvian, where a server's data have a y that is an i.
fn newer_collations(seen: &Seen<'_>) -> bool {
    let latvian = |key: &str, value: &Bson| key == "locale" && value.as_str() == Some("lv");
    seen.both_answer() && (seen.mentions(&latvian) || seen.mentioned(&latvian))
}

/// A server sorts a symbol by its bytes among the keys of strings.
fn symbols(seen: &Seen<'_>) -> bool {
    let reply = json(seen.memory);
    seen.both_answer()
        && seen.has(&["sort", "$sort"])
        && (seen.has(&["collation"]) || seen.was_collated())
        && reply.contains("\"$symbol\"")
        && sorted(seen.memory) == sorted(seen.server)
}

/// Which document is the first that is not such a document, for an update or a delete of one.
fn first_of_others(seen: &Seen<'_>) -> bool {
    let is_indexed = seen.indexed(&|_, _| true);
    let is_other = |key: &str, value: &Bson| {
        let other = value
            .as_document()
            .and_then(|operators| operators.get("$ne"));
        (key == "_id" || is_indexed) && matches!(other, Some(Bson::Document(_)))
    };
    seen.both_answer() && (seen.mentions(&is_other) || seen.mentioned(&is_other))
}

/// Which of the documents that a wildcard index and another plan find alike is the first.
fn first_by_wildcard(seen: &Seen<'_>) -> bool {
    let writes = ["delete", "update", "findAndModify"];
    let is_write = writes.iter().any(|name| seen.command.contains_key(*name));
    seen.both_answer()
        && seen.indexed(&|key, _| key.ends_with("$**"))
        && (is_write || seen.mentioned(&|key, _| writes.contains(&key)))
        && seen.loses()
        && seen.finds_more()
}

fn limited(seen: &Seen<'_>) -> bool {
    seen.both_answer()
        && seen.has(&["$sort", "sort"])
        && seen.has(&["$limit", "limit", "$skip", "skip"])
        && sorted(seen.memory) == sorted(seen.server)
}
