//! Differences that are known: each has its reason in the book's chapter on limits.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Order, Step};
use crate::compare::normal;
use crate::json::json;

/// The name of the exception that covers this difference in the replies to the last step.
pub(crate) fn name(steps: &[Step], memory: &Document, server: &Document) -> Option<&'static str> {
    let (last, before) = steps.split_last()?;
    // What a view's pipeline does is done by the command that reads the view.
    let whole = with_views(&last.command, before);
    let command = &whole;
    let (here, there) = (memory.contains_key("code"), server.contains_key("code"));
    let message = |reply: &Document| reply.get_str("errmsg").unwrap_or("").to_owned();
    let both = |text: &str| message(memory).contains(text) && message(server).contains(text);
    let hints = [
        "hint provided does not correspond to an existing index",
        "When using min()/max() a hint of which index to use must be provided",
    ];
    if hints.iter().any(|text| both(text)) {
        return Some("the picture of a filter where a hint is refused");
    }
    if both("Number of statement ids must match the number of batch entries") {
        return Some("the picture of a command whose statements are not those of its ids");
    }
    if both("'newRoot' expression") {
        return Some("the picture of a document that $replaceRoot refuses");
    }
    if both("is invalid") && (both("locale:")) {
        return Some("the picture of a collation that is refused");
    }
    if json(server).contains("Cannot index type Symbol with a collation") {
        return Some("symbols in an index with a collation");
    }
    let has_no_plan = |reply: &Document| json(reply).contains("planner returned error");
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unclear = |key: &str, value: &Bson| {
        key.split('.').any(is_number)
            || matches!(value, Bson::Array(values) if values.is_empty())
            || matches!(
                key,
                "$expr" | "$jsonSchema" | "$exists" | "$ne" | "$not" | "$nin" | "$nor"
            )
            || *value == Bson::Null
    };
    if has_no_plan(memory) != has_no_plan(server) && mentions(command, &unclear) {
        return Some("wildcard indexes as hints of a query that they can't serve");
    }
    if message(server).contains("Invalid UTF-8") {
        return Some("a refusal that shows half a character, which no client can read");
    }
    let unread = [
        "pipeline :: caused by :: unknown top level operator: $",
        "pipeline :: caused by :: unknown operator: $alwaysFalse",
        "cannot nest $ under $in",
    ];
    if unread.iter().any(|text| message(server).contains(text)) {
        return Some("filters that the server writes for itself and cannot read back");
    }
    let code = |reply: &Document| reply.get_i32("code").unwrap_or(0);
    if here && there && command.contains_key("collMod") {
        return Some("which of two refusals of a collMod comes first");
    }
    let is_by_id = |query: &Document| query.len() == 1 && query.contains_key("_id");
    if here
        && !there
        && command.contains_key("findAndModify")
        && command.contains_key("sort")
        && command.get_document("query").is_ok_and(is_by_id)
    {
        return Some("fields that a server takes and does nothing with");
    }
    if code(server) == 4_457_011 {
        return Some("negated ranges of symbols and code that an index could serve");
    }
    if code(server) == 4_822_806 && mentions(command, &|key, _| key == "$group") {
        return Some("errors within $group: the server's other execution engine has its own");
    }
    if (code(server) == 51_246 || !there)
        && positional_paths(command)
            .iter()
            .any(|path| path.contains('.'))
    {
        return Some("positional projections of a path whose first field is missing");
    }
    let both_folded = |text: &str| text.contains("Failed to optimize pipeline");
    if both_folded(&message(memory)) && both_folded(&message(server)) && computed(&whole) > 1 {
        return Some("which of two constants that fail is computed first");
    }
    let is_array = |reply: &Document| {
        let text = json(reply);
        text.contains("cannot be of type array")
            || text.contains("to be an array or array descendant")
    };
    if is_array(memory) && is_array(server) {
        return Some("which refusal an _id that is an array meets");
    }
    let writes = [json(memory), json(server)];
    let of_keys = |text: &String| {
        ["11000", "16766", "16746", "171", "201"]
            .iter()
            .any(|code| text.contains(&format!("\"code\": {{\"$numberInt\": \"{code}\"}}")))
    };
    if writes.iter().all(of_keys) {
        return Some("which of two indexes refuses a document first");
    }
    if message(memory).contains("dateAdd overflowed") {
        return Some("dates next to the end of 64 bits");
    }
    if here && there && message(server).contains("is not valid for an index specification") {
        return Some("which of two refusals of an index comes first");
    }
    let ignored = [
        "singleBatch",
        "batchSize",
        "bypassDocumentValidation",
        "term",
    ];
    if message(memory).contains("is an unknown field")
        && ignored.iter().any(|name| message(memory).contains(name))
    {
        return Some("fields that a server takes and does nothing with");
    }
    if message(server).starts_with("PlanExecutor") && message(server).contains("mergeObjects") {
        return Some("errors within $group: the server's other execution engine has its own");
    }
    if !here && !there {
        let named_zone = |key: &str, value: &Bson| {
            key == "timezone" && json(&doc! { "": value.clone() }).contains('/')
        };
        if mentions(command, &|key, _| matches!(key, "$dateDiff"))
            && mentions(command, &named_zone)
            && only_apart(memory, server, 1.0)
        {
            return Some("differences of dates in a zone's local mean time");
        }
        let large = before
            .iter()
            .map(|step| &step.command)
            .chain([command])
            .any(|command| is_large(&json(command)));
        let computes = |key: &str, _: &Bson| {
            matches!(key, "$avg" | "$add" | "$subtract" | "$sum" | "$multiply")
        };
        if large && mentions(command, &computes) && differ_in_numbers(memory, server, &|_, _| true)
        {
            return Some("sums of numbers near the ends of 64 bits, whose digits a double has not");
        }
        let sums = |key: &str, _: &Bson| matches!(key, "$multiply" | "$add" | "$group" | "$sum");
        if mentions(command, &sums) && only_rounded(memory, server) {
            return Some("where sums and products are rounded, and which of equal numbers stays");
        }
        if mentions(command, &|key, _| key == "includeArrayIndex")
            && mentions(command, &|key, _| key == "$sort")
            && json(&sorted(memory)) == json(&sorted(server))
        {
            return Some("sorts behind $unwind by the index that it adds: the server sorts first");
        }
    }
    if let (Some(here), Some(there)) = (unspecified(memory), unspecified(server))
        && here == there
    {
        return Some("what a $regex with operators beside it is specified as");
    }
    let of_sets = |key: &str, _: &Bson| matches!(key, "$unionWith" | "$lookup" | "$graphLookup");
    if there
        && message(server).contains("Failed to optimize pipeline")
        && mentions(command, &of_sets)
    {
        return Some("constants that fail in what $unionWith or $lookup reads");
    }
    if let (Some(here), Some(there)) = (unhexed(memory), unhexed(server))
        && json(&here) == json(&there)
    {
        return Some("the sort keys that a duplicate key of a collated index shows");
    }
    let found = |reply: &Document| json(&normal(reply, Order::Any));
    if !here && !there && sorts_by_number(command) && found(memory) == found(server) {
        return Some("sorts by a path with a number in it, beside a projection");
    }
    let everything = |key: &str, value: &Bson| {
        matches!(
            (key, value),
            ("$gte" | "$gt", Bson::MinKey) | ("$lte" | "$lt", Bson::MaxKey)
        )
    };
    if !here && !there && mentions(command, &everything) {
        return Some("ranges of all values: the server finds empty arrays by an index");
    }
    let refuses =
        |reply: &Document| reply.contains_key("code") || reply.get_array("writeErrors").is_ok();
    let faults = |reply: &Document| reply.get_array("writeErrors").map_or(0, Vec::len);
    if (refuses(memory) != refuses(server) || faults(memory) != faults(server))
        && mentions(command, &|key, _| key == "$expr")
        && (mentions(command, &|key, _| key == "$jsonSchema")
            || before
                .iter()
                .any(|step| step.command.contains_key("createIndexes")))
    {
        return Some("an $expr before or after the conditions beside it");
    }
    let of_views = command.get_array("views").map_or(0, Vec::len);
    let of_updates = command.get_array("update").map_or(0, Vec::len);
    let stages = command.get_array("pipeline").map_or(0, Vec::len) + of_views + of_updates;
    if mentions(command, &|key, _| {
        matches!(key, "$group" | "$sortByCount" | "$count")
    }) {
        if here || there {
            return Some("errors within $group: the server's other execution engine has its own");
        }
        let written = |reply: &Document| json(reply);
        let odd = ["$symbol", "$code", "$maxKey", "$minKey"];
        if odd.iter().any(|kind| written(memory).contains(kind))
            || written(server).contains("$numberDecimal")
        {
            return Some("symbols and overflows within $group");
        }
    }
    let looks_up = mentions(command, &|key, _| key == "$lookup");
    let as_strings = ["\"$code\"", "\"$symbol\""];
    if !here && !there && looks_up && as_strings.iter().any(|kind| json(memory).contains(kind)) {
        return Some("code and symbols within $lookup by fields, which a server makes strings of");
    }
    let by_number = |key: &str, value: &Bson| {
        key == "localField"
            && value
                .as_str()
                .is_some_and(|path| path.split('.').any(is_number))
    };
    if !here && !there && looks_up && mentions(command, &by_number) {
        return Some(
            "$lookup by a path with a number in it, which a server's own engine reads as a name",
        );
    }
    let indexed = |wanted: &dyn Fn(&str, &Bson) -> bool| {
        before.iter().any(|step| {
            step.command.contains_key("createIndexes") && mentions(&step.command, wanted)
        })
    };
    let by_position = |key: &str, _: &Bson| key.split('.').skip(1).any(is_number);
    if !here
        && !there
        && indexed(&by_position)
        && mentions(command, &|_, value| *value == Bson::Null)
    {
        return Some("null by an index of a path with a number: the server loses documents");
    }
    let nested = |key: &str, value: &Bson| {
        matches!(key, "$gt" | "$gte" | "$lt" | "$lte")
            && value
                .as_array()
                .is_some_and(|values| matches!(values.first(), Some(Bson::Array(_))))
    };
    if !here && !there && indexed(&|_, _| true) && mentions(command, &nested) {
        return Some("ranges of arrays within arrays by an index: the server loses documents");
    }
    let limited = |key: &str, _: &Bson| matches!(key, "$limit" | "limit" | "$skip" | "skip");
    let ordered = |key: &str, _: &Bson| matches!(key, "$sort" | "sort");
    if !here
        && !there
        && mentions(command, &ordered)
        && mentions(command, &limited)
        && json(&sorted(memory)) == json(&sorted(server))
    {
        return Some("documents with equal sort keys, beside a limit");
    }
    if !here && !there && looks_up && json(&sorted(memory)) == json(&sorted(server)) {
        return Some("the order of what a $lookup by fields finds, and the place of its field");
    }
    if !here && !there && stages > 1 && json(&in_order(memory)) == json(&in_order(server)) {
        return Some("fields dropped and computed again: the server remembers their old place");
    }
    let runs = |reply: &Document| message(reply).starts_with("PlanExecutor");
    if stages > 1 && runs(memory) && runs(server) {
        return Some(
            "errors in the next document: the server computes a batch before a stage sees any",
        );
    }
    if here && !there && stages > 1 {
        return Some("errors in documents that a later stage drops: the server drops them first");
    }
    let drops = ["skip", "limit"]
        .iter()
        .any(|name| command.contains_key(*name));
    if here && !there && drops && message(memory).starts_with("PlanExecutor") {
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
    if mentions(command, &|key, _| key == "upsert")
        && mentions(command, &|key, _| key == "$jsonSchema")
    {
        return Some("upserts by a $jsonSchema that nothing can match");
    }
    None
}

/// A command, and the pipelines of the views that were made before it.
fn with_views(command: &Document, before: &[Step]) -> Document {
    let views: Vec<Bson> = before
        .iter()
        .filter(|step| step.command.contains_key("viewOn"))
        .filter_map(|step| step.command.get_array("pipeline").ok())
        .flatten()
        .cloned()
        .collect();
    let mut whole = command.clone();
    let text = json(command);
    if !views.is_empty() && (text.contains("\"v\"") || text.contains("\"w\"")) {
        whole.insert("views", views);
    }
    whole
}

/// The reply to a write that met a duplicate key, without the bytes that stand for strings.
fn unhexed(reply: &Document) -> Option<Document> {
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
    Some(reply)
}

/// Whether two replies differ in numbers alone, and those by no more than how they are rounded and when they overflow.
fn only_rounded(memory: &Document, server: &Document) -> bool {
    let close = |one: f64, other: f64| {
        !one.is_finite()
            || !other.is_finite()
            || (one - other).abs() <= 1e-12 * one.abs().max(other.abs())
    };
    differ_in_numbers(memory, server, &close)
}

/// Whether two replies differ in numbers alone, and those by no more than this.
fn only_apart(memory: &Document, server: &Document, most: f64) -> bool {
    differ_in_numbers(memory, server, &|one, other| (one - other).abs() <= most)
}

fn differ_in_numbers(
    memory: &Document,
    server: &Document,
    close: &dyn Fn(f64, f64) -> bool,
) -> bool {
    let (here, there) = (numbers(memory), numbers(server));
    here.0 == there.0
        && here
            .1
            .iter()
            .zip(&there.1)
            .all(|(one, other)| close(*one, *other))
}

/// A reply without its numbers, and these.
fn numbers(reply: &Document) -> (String, Vec<f64>) {
    let text = json(&normal(reply, Order::Exact));
    let (mut out, mut found) = (String::new(), Vec::new());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{\"$number") {
        out.push_str(before);
        out.push('n');
        let (number, after) = after.split_once('}').unwrap_or((after, ""));
        let digits = number.split('"').nth(2).unwrap_or("");
        found.push(digits.parse().unwrap_or(f64::NAN));
        rest = after;
    }
    (out + rest, found)
}

/// A validation's details without what they say of the rule that is written in a $regex.
fn unspecified(reply: &Document) -> Option<String> {
    fn bare(value: &Bson) -> Bson {
        match value {
            Bson::Document(document) => {
                let is_pattern = document
                    .get_str("operatorName")
                    .is_ok_and(|name| name == "$regex");
                document
                    .iter()
                    .filter(|(key, _)| !is_pattern || *key != "specifiedAs")
                    .map(|(key, value)| (key.clone(), bare(value)))
                    .collect::<Document>()
                    .into()
            }
            Bson::Array(values) => values.iter().map(bare).collect::<Vec<_>>().into(),
            other => other.clone(),
        }
    }
    let text = json(reply);
    let is_pattern = text.contains("failingDocumentId") && text.contains("\"$regex\"");
    is_pattern.then(|| {
        let reply = normal(reply, Order::Exact);
        json(
            &bare(&reply.into())
                .as_document()
                .cloned()
                .unwrap_or_default(),
        )
    })
}

fn sorts_by_number(command: &Document) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    command.contains_key("projection")
        && command
            .get_document("sort")
            .is_ok_and(|sort| sort.keys().any(|path| path.split('.').any(is_number)))
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

/// A document with the fields of all documents by name, and the values of all arrays in an order of their own.
fn sorted(document: &Document) -> Document {
    let sort = |(name, value): (String, Bson)| (name, value_sorted(value));
    in_order(document).into_iter().map(sort).collect()
}

fn value_sorted(value: Bson) -> Bson {
    match value {
        Bson::Document(document) => sorted(&document).into(),
        Bson::Array(values) => {
            let mut values: Vec<_> = values.into_iter().map(value_sorted).collect();
            values.sort_by_cached_key(|value| json(&doc! { "": value.clone() }));
            values.into()
        }
        other => other,
    }
}

/// Whether a number is written that has more digits than a double.
fn is_large(text: &str) -> bool {
    ["922337203685477", "1e20", "1e308", "E+6144"]
        .iter()
        .any(|digits| text.contains(digits))
}

/// How many expressions the stages of a pipeline compute.
fn computed(command: &Document) -> usize {
    fn expressions(value: &Bson) -> usize {
        match value {
            Bson::Document(document)
                if !document
                    .keys()
                    .next()
                    .is_some_and(|key| key.starts_with('$')) =>
            {
                document.iter().map(|(_, value)| expressions(value)).sum()
            }
            Bson::Document(_) | Bson::Array(_) => 1,
            _ => 0,
        }
    }
    let stages = ["pipeline", "views"].map(|name| command.get_array(name));
    let stages = stages.into_iter().flatten().flatten();
    stages
        .filter_map(Bson::as_document)
        .flat_map(|stage| stage.iter().map(|(_, spec)| expressions(spec)))
        .sum()
}

/// The paths of positional projections.
fn positional_paths(command: &Document) -> Vec<&str> {
    let shapes = ["projection", "fields"].map(|name| command.get_document(name));
    shapes
        .into_iter()
        .flatten()
        .flat_map(Document::keys)
        .filter_map(|path| path.strip_suffix(".$"))
        .collect()
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
