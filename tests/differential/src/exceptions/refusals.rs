//! What one of the two refuses, or both for another reason.

use odm::bson::{Bson, Document};

use crate::json::json;

use super::Exception;
use super::seen::{Seen, code, message};

pub(super) const KNOWN: &[Exception] = &[
    ("Symbols and collations", symbols_with_collation),
    ("Filters in stages", unread_filters),
    ("Which of two refusals", which_of_two),
    ("Negated ranges of symbols and code", negated_ranges),
    ("The code of $setIsSubset", of_subset),
    ("Positional projections", positional),
    ("Constants that fail", constants),
    ("$expr beside other conditions", expr_beside),
    ("`term` of find", term),
];

fn symbols_with_collation(seen: &Seen<'_>) -> bool {
    json(seen.server).contains("Cannot index type Symbol with a collation")
}

fn unread_filters(seen: &Seen<'_>) -> bool {
    let unread = [
        "pipeline :: caused by :: unknown top level operator: $",
        "pipeline :: caused by :: unknown operator: $alwaysFalse",
        "pipeline :: caused by :: unknown operator: $and",
        "cannot nest $ under $in",
    ];
    unread
        .iter()
        .any(|text| message(seen.server).contains(text))
}

fn which_of_two(seen: &Seen<'_>) -> bool {
    let of_keys = |reply: &Document| {
        let text = json(reply);
        ["11000", "16766", "16746", "171", "201"]
            .iter()
            .any(|code| text.contains(&format!("\"code\": {{\"$numberInt\": \"{code}\"}}")))
    };
    let conflict = "Update created a conflict";
    let renames = seen.has(&["$rename"]) && json(seen.server).contains(conflict);
    renames && json(seen.memory).contains("\"code\"")
        || seen.both_refuse() && seen.projected() > 1
        || seen.both_say("Failed to optimize pipeline") && seen.computed() > 1
        || of_keys(seen.memory) && of_keys(seen.server)
}

fn negated_ranges(seen: &Seen<'_>) -> bool {
    code(seen.server) == 4_457_011
}

fn of_subset(seen: &Seen<'_>) -> bool {
    seen.both_say("both operands of $setIsSubset must be arrays")
}

fn positional(seen: &Seen<'_>) -> bool {
    let shapes = ["projection", "fields"].map(|name| seen.command.get_document(name));
    let mut paths = shapes.into_iter().flatten().flat_map(Document::keys);
    (code(seen.server) == 51_246 || !seen.there())
        && paths.any(|path| {
            path.strip_suffix(".$")
                .is_some_and(|path| path.contains('.'))
        })
}

fn constants(seen: &Seen<'_>) -> bool {
    message(seen.server).contains("Failed to optimize pipeline")
        && seen.has(&["$unionWith", "$lookup", "$graphLookup"])
}

fn expr_beside(seen: &Seen<'_>) -> bool {
    let faults = |reply: &Document| {
        let errors = reply.get_array("writeErrors").into_iter().flatten();
        let errors = errors.filter_map(|error| error.as_document()?.get_i32("index").ok());
        (reply.contains_key("code"), errors.collect::<Vec<_>>())
    };
    // There is always an index on _id.
    let by_id = |key: &str, value: &Bson| key == "_id" && matches!(value, Bson::Document(_));
    let is_indexed = seen.indexed(&|_, _| true) || seen.mentions(&by_id);
    faults(seen.memory) != faults(seen.server)
        && seen.has(&["$expr"])
        && (seen.has(&["$jsonSchema", "views"]) || is_indexed)
}

fn term(seen: &Seen<'_>) -> bool {
    seen.command.contains_key("find") && seen.command.contains_key("term")
}
