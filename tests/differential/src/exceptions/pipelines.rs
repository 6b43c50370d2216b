//! What stages do in another order, or another engine of a server's.

use odm::bson::{Bson, Document};

use crate::cases::Order;
use crate::compare::normal;
use crate::json::json;

use super::Exception;
use super::replies::{in_order, sorted};
use super::seen::{Seen, code, has_number, message};

pub(super) const KNOWN: &[Exception] = &[
    ("Errors within $group", group_errors),
    ("Overflows and rare types within $group", group_types),
    ("Overflows and rare types within $group", group_sets),
    ("$lookup by fields alone", lookups),
    ("Order within $graphLookup", graphs),
    (
        "$graphLookup by a path with a number in it",
        graphs_by_number,
    ),
    ("Fields dropped and computed again", old_places),
    ("Fields dropped and computed again", old_elements),
    ("Moved stages", moved),
    ("Moved stages", moved_into_view),
    ("Moved stages", moved_null),
    ("Moved stages", moved_path),
    ("Batches of no documents", unread),
    ("Windows", window_sets),
    ("Fractions in $densify", fractions),
    ("Partitions of $densify", densified),
];

const GROUPS: &[&str] = &["$bucket", "$group", "$sortByCount", "$count"];

fn group_errors(seen: &Seen<'_>) -> bool {
    let said = message(seen.server);
    code(seen.server) == 4_822_806 && seen.has(&["$bucket", "$group"])
        || said.starts_with("PlanExecutor") && said.contains("mergeObjects")
        || seen.has(GROUPS) && !seen.both_answer()
}

fn group_types(seen: &Seen<'_>) -> bool {
    let odd = ["$symbol", "$code", "$maxKey", "$minKey"];
    let (here, there) = (json(seen.memory), json(seen.server));
    seen.both_answer()
        && seen.has(GROUPS)
        && (odd.iter().any(|kind| here.contains(kind)) || there.contains("$numberDecimal"))
}

/// The same elements of a set in another order, by which another set is the largest or the smallest.
fn group_sets(seen: &Seen<'_>) -> bool {
    let letters = |reply: &Document| {
        let mut letters = json(&normal(reply, Order::Exact)).into_bytes();
        letters.sort_unstable();
        letters
    };
    seen.both_answer()
        && seen.has(GROUPS)
        && seen.has(&[
            "$setDifference",
            "$setIntersection",
            "$setUnion",
            "$addToSet",
        ])
        && (seen.has(&["$max", "$min"]) || letters(seen.memory) == letters(seen.server))
}

fn lookups(seen: &Seen<'_>) -> bool {
    let as_strings = ["\"$code\"", "\"$symbol\"", "\"$maxKey\"", "\"$minKey\""];
    // A later stage may drop the value.
    let before = seen.before.iter().map(|step| json(&step.command));
    let here = json(seen.memory) + &before.collect::<String>();
    let by_number =
        |key: &str, value: &Bson| key == "localField" && value.as_str().is_some_and(has_number);
    seen.both_answer()
        && seen.has(&["$lookup"])
        && (as_strings.iter().any(|kind| here.contains(kind))
            || seen.mentions(&by_number)
            || sorted(seen.memory) == sorted(seen.server))
}

/// The order of what a graph finds.
fn graphs(seen: &Seen<'_>) -> bool {
    seen.both_answer() && seen.has(&["$graphLookup"]) && sorted(seen.memory) == sorted(seen.server)
}

/// What an earlier document found, a server finds again by other rules.
fn graphs_by_number(seen: &Seen<'_>) -> bool {
    let by_number =
        |key: &str, value: &Bson| key == "connectToField" && value.as_str().is_some_and(has_number);
    seen.both_answer() && seen.mentions(&by_number)
}

fn old_places(seen: &Seen<'_>) -> bool {
    let long = |value: &Bson| value.as_array().is_some_and(|stages| stages.len() > 1);
    let is_facet = |key: &str, value: &Bson| {
        let pipelines = value.as_document().filter(|_| key == "$facet");
        pipelines.is_some_and(|pipelines| pipelines.iter().any(|(_, stages)| long(stages)))
    };
    let is_piped = seen.stages() > 1 || seen.was_piped() || seen.mentions(&is_facet);
    seen.both_answer() && is_piped && in_order(seen.memory) == in_order(seen.server)
}

/// What an inclusion drops from an array, the next stage of an update still meets.
fn old_elements(seen: &Seen<'_>) -> bool {
    let is_update = seen.was_piped() || seen.command.get_array("update").is_ok();
    let nested = |key: &str, _: &Bson| key.contains('.');
    let is_unwound = seen.both_answer()
        && seen.finds_more()
        && seen.mentions(&nested)
        && seen.has(&["$project"])
        && seen.has(&["$unwind"]);
    let one_of = |names: &'static [&str]| move |key: &str, _: &Bson| names.contains(&key);
    let updates_by = |wanted: &dyn Fn(&str, &Bson) -> bool| {
        seen.mentions(wanted) || seen.was_piped() && seen.mentioned(wanted)
    };
    is_unwound
        || seen.both_answer()
            && is_update
            && updates_by(&nested)
            && updates_by(&one_of(&["$project"]))
            && updates_by(&one_of(&["$set", "$addFields"]))
            && ["[[", "[]"]
                .iter()
                .any(|text| json(seen.memory).contains(text))
}

fn moved(seen: &Seen<'_>) -> bool {
    let runs = |reply: &Document| message(reply).starts_with("PlanExecutor");
    let drops = ["skip", "limit"]
        .iter()
        .any(|name| seen.command.contains_key(*name));
    seen.stages() > 1 && runs(seen.memory) && runs(seen.server)
        || seen.here()
            && !seen.there()
            && (seen.stages() > 1 || drops && runs(seen.memory))
        // It is moved before the index that $unwind adds.
        || seen.both_answer()
            && seen.has(&["includeArrayIndex"])
            && seen.has(&["$sort"])
            && sorted(seen.memory) == sorted(seen.server)
}

/// A server closes the cursor with the last document, where its plan knows that there are no more.
fn closed_at_once(seen: &Seen<'_>) -> bool {
    let open = |reply: &Document| {
        let cursor = reply.get_document("cursor");
        cursor.is_ok_and(|cursor| cursor.get_i64("id").is_ok_and(|id| id != 0))
    };
    seen.command.contains_key("getMore")
        && seen.mentioned(&|key, value| key == "batchSize" && *value == Bson::Int32(0))
        && (seen.both_answer() && open(seen.memory) && !open(seen.server)
            || message(seen.server).contains("not found") && !seen.here())
}

/// A server looks a field up before the view's stages put documents in its way.
fn moved_into_view(seen: &Seen<'_>) -> bool {
    let views = seen.command.get_array("views").into_iter().flatten();
    let mut stages = views.filter_map(Bson::as_document);
    seen.both_answer()
        && seen.has(&["$lookup"])
        && stages.any(|stage| {
            let mut names = ["$set", "$addFields", "$unwind"].into_iter();
            names.any(|name| stage.contains_key(name))
        })
}

/// A server asks for null where a stage in front puts a document.
fn moved_null(seen: &Seen<'_>) -> bool {
    seen.loses()
        && seen.stages() > 0
        && seen.has(&["$set", "$addFields"])
        && seen.mentions(&|key, value| key.contains('.') && *value == Bson::Null)
}

/// A server finds nothing by a renamed path alone.
fn moved_path(seen: &Seen<'_>) -> bool {
    let is_path = |key: &str, value: &Bson| {
        key == "$expr" && value.as_str().is_some_and(|path| path.starts_with('$'))
    };
    seen.loses() && seen.stages() > 1 && seen.mentions(&is_path)
}

/// A set that only grows comes in any order.
fn window_sets(seen: &Seen<'_>) -> bool {
    let has_window = seen.has(&["$setWindowFields"]) && seen.has(&["$addToSet"]);
    seen.both_answer() && has_window && sorted(seen.memory) == sorted(seen.server)
}

/// A server may begin a sequence again that rounding keeps from meeting its bounds.
fn fractions(seen: &Seen<'_>) -> bool {
    let is_rounded = |key: &str, value: &Bson| {
        let step = match value {
            Bson::Double(step) => *step,
            Bson::Decimal128(step) => step.to_string().parse().unwrap_or(f64::NAN),
            _ => return false,
        };
        key == "step" && ((step * 2.0).fract() != 0.0 || step > 1e15)
    };
    seen.has(&["$densify"]) && seen.mentions(&is_rounded)
}

/// The documents behind the last one of each partition. Where no document reaches explicit bounds, mongod adds those of
/// one partition only.
fn densified(seen: &Seen<'_>) -> bool {
    let is_parted = seen.has(&["$densify"]) && seen.has(&["partitionByFields"]);
    let is_explicit = |key: &str, value: &Bson| key == "bounds" && value.as_array().is_some();
    let is_same = || seen.both_answer() && sorted(seen.memory) == sorted(seen.server);
    is_parted && (is_same() || seen.mentions(&is_explicit) && seen.loses())
}

/// A server adds no more documents of a sequence than it is asked for.
fn endless(seen: &Seen<'_>) -> bool {
    let cursor = seen.server.get_document("cursor");
    let is_open = cursor.is_ok_and(|cursor| cursor.get_i64("id").is_ok_and(|id| id != 0));
    code(seen.memory) == 5_897_900 && is_open
}

fn unread(seen: &Seen<'_>) -> bool {
    let cursor = seen.command.get_document("cursor").unwrap_or(&seen.command);
    closed_at_once(seen)
        || endless(seen)
        || seen.here()
            && (matches!(cursor.get("batchSize"), Some(Bson::Int32(0)))
                || seen.command.contains_key("getMore"))
}
