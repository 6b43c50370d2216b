//! The stages of a pipeline as mongod's `explain` shows them: each in one form, some joined with their neighbours.

use bson::raw::RawArray;
use bson::{Bson, Document, doc};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;

use crate::pipeline::counts::{Counts, Ran};

/// The services that stages need to be shown.
pub(crate) trait Printer {
    fn globals(&self) -> &Globals;

    /// The database of the pipeline.
    fn database(&self) -> &str;

    /// The counters of the stages, if the pipeline ran.
    fn counts(&self) -> Option<&Counts>;

    /// A filter in mongod's form.
    fn filter(&self, matcher: &Matcher) -> Document;

    /// The stages of a pipeline over another collection, after the query that feeds it.
    fn over(&self, collection: &str, written: &RawArray) -> Result<Vec<Document>, ServerError>;
}

/// The paths that a stage reads.
#[derive(Debug)]
pub(crate) struct Dependencies {
    pub(crate) paths: Vec<String>,
    /// Whether the stages behind this one get nothing else of the documents.
    pub(crate) is_all: bool,
}

impl Dependencies {
    /// Those of a stage that passes documents on.
    pub(crate) fn some(paths: Vec<String>) -> Self {
        Self {
            paths,
            is_all: false,
        }
    }

    /// Those of a stage that makes new documents.
    pub(crate) fn all(paths: Vec<String>) -> Self {
        Self {
            paths,
            is_all: true,
        }
    }
}

/// `{name: argument}`.
pub(crate) fn stage(name: &str, argument: impl Into<Bson>) -> Document {
    let mut shown = Document::new();
    shown.insert(name, argument);
    shown
}

/// A count.
pub(crate) fn number(value: u64) -> Bson {
    Bson::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

/// One shown stage, with what it did and the size of its input.
pub(super) struct Entry {
    pub(super) shown: Document,
    pub(super) ran: Option<Ran>,
    pub(super) input_bytes: u64,
}

impl Entry {
    fn argument(&self, name: &str) -> Option<&Document> {
        self.shown.get_document(name).ok()
    }

    fn argument_mut(&mut self, name: &str) -> Option<&mut Document> {
        self.shown.get_document_mut(name).ok()
    }

    fn count_of(&self, name: &str) -> Option<i64> {
        self.shown.get_i64(name).ok()
    }
}

/// Adds a stage, or joins it with those before it as mongod's optimizer does.
pub(super) fn join(entries: &mut Vec<Entry>, next: Entry) {
    if let Some(limit) = next.count_of("$limit")
        && join_limit(entries, limit)
    {
        return;
    }
    let Some(last) = entries.last_mut() else {
        entries.push(next);
        return;
    };
    if let (Some(first), Some(second)) = (last.count_of("$skip"), next.count_of("$skip")) {
        let both = first.saturating_add(second);
        last.shown = stage("$skip", number(u64::try_from(both).unwrap_or_default()));
        last.ran = next.ran;
        return;
    }
    if let Some(unwind) = next.argument("$unwind")
        && let Some(join) = ["$lookup", "$graphLookup"]
            .into_iter()
            .find(|name| last.shown.contains_key(name))
        && let Some(argument) = last.argument_mut(join)
        && let (Ok(array), Ok(path)) = (argument.get_str("as"), unwind.get_str("path"))
        && path.strip_prefix('$') == Some(array)
        && !argument.contains_key("unwinding")
    {
        let keeps = unwind.get_bool("preserveNullAndEmptyArrays");
        let mut unwinding = doc! { "preserveNullAndEmptyArrays": keeps.unwrap_or(false) };
        if let Some(index) = unwind.get("includeArrayIndex") {
            unwinding.insert("includeArrayIndex", index);
        }
        argument.insert("unwinding", unwinding);
        replace_returned(last, next.ran);
        return;
    }
    if let Some(filter) = next.argument("$match")
        && let Some(argument) = last.argument_mut("$lookup")
        && let Ok(array) = argument.get_str("as").map(ToOwned::to_owned)
        && takes_filters(argument)
        && let Some(filter) = below(filter, &array)
    {
        let unwinding = argument.remove("unwinding");
        if !argument.contains_key("pipeline") {
            argument.insert("let", doc! {});
            argument.insert("pipeline", Vec::<Document>::new());
        }
        if let Ok(pipeline) = argument.get_array_mut("pipeline") {
            pipeline.push(doc! { "$match": filter }.into());
        }
        argument.extend(unwinding.map(|unwinding| ("unwinding".to_owned(), unwinding)));
        replace_returned(last, next.ran);
        return;
    }
    entries.push(next);
}

/// Joins a limit with the sort or the limit before it. A limit passes skips on its way to a sort.
fn join_limit(entries: &mut [Entry], limit: i64) -> bool {
    let mut limit = limit;
    for (at, entry) in entries.iter_mut().enumerate().rev() {
        if let Some(skip) = entry.count_of("$skip") {
            limit = limit.saturating_add(skip);
            continue;
        }
        let count = u64::try_from(limit).unwrap_or_default();
        if let Some(sort) = entry.argument_mut("$sort")
            && !sort.contains_key("limit")
        {
            sort.insert("limit", number(count));
            return true;
        }
        let is_last = at + 1 == entries.len();
        if let Some(earlier) = entries.get(at).and_then(|entry| entry.count_of("$limit"))
            && is_last
        {
            let least = u64::try_from(earlier.min(limit)).unwrap_or_default();
            if let Some(entry) = entries.get_mut(at) {
                entry.shown = stage("$limit", number(least));
            }
            return true;
        }
        return false;
    }
    false
}

/// The stage that was joined decides how many documents come out.
fn replace_returned(entry: &mut Entry, ran: Option<Ran>) {
    if let (Some(own), Some(ran)) = (&mut entry.ran, ran) {
        own.returned = ran.returned;
        own.bytes = ran.bytes;
    }
}

/// Whether a filter behind a `$lookup` becomes one of its pipeline.
fn takes_filters(lookup: &Document) -> bool {
    let unwinding = lookup.get_document("unwinding");
    unwinding.is_ok_and(|unwinding| {
        !unwinding.contains_key("includeArrayIndex")
            && !unwinding
                .get_bool("preserveNullAndEmptyArrays")
                .unwrap_or(true)
    })
}

/// The filter on the documents in an array, if all of its paths are below the array's.
fn below(filter: &Document, array: &str) -> Option<Document> {
    let mut inner = Document::new();
    for (name, value) in filter {
        match (name.as_str(), value) {
            ("$and" | "$or" | "$nor", Bson::Array(filters)) => {
                let filters = filters
                    .iter()
                    .map(|filter| below(filter.as_document()?, array));
                inner.insert(name, filters.collect::<Option<Vec<_>>>()?);
            }
            (path, value) => {
                let path = path.strip_prefix(array)?.strip_prefix('.')?;
                inner.insert(path, value);
            }
        }
    }
    Some(inner)
}

/// The stage with what it did.
pub(super) fn finished(entry: Entry) -> Document {
    let Entry {
        mut shown,
        ran,
        input_bytes,
    } = entry;
    let Some(ran) = ran else {
        return shown;
    };
    let name = shown.keys().next().cloned().unwrap_or_default();
    let sizes = |fields: &Document| -> Document {
        fields
            .keys()
            .filter(|name| *name != "_id")
            .map(|name| {
                let top = name.split('.').next().unwrap_or(name);
                let size = ran.fields.get(top).copied().unwrap_or_default();
                (name.clone(), number(size))
            })
            .collect()
    };
    match name.as_str() {
        "$group" => {
            let fields = shown.get_document("$group").map(sizes);
            shown.extend(doc! {
                "maxAccumulatorMemoryUsageBytes": fields.unwrap_or_default(),
                "totalOutputDataSizeBytes": number(ran.bytes),
                "usedDisk": false,
                "spills": 0_i64,
            });
        }
        "$sort" => {
            let sort = shown.get_document("$sort");
            // mongod counts nothing where it keeps only one document.
            let is_counted = sort.is_ok_and(|sort| sort.get("limit") != Some(&Bson::Int64(1)));
            shown.extend(doc! {
                "totalDataSizeSortedBytesEstimate": number(if is_counted { input_bytes } else { 0 }),
                "usedDisk": false,
                "spills": 0_i64,
            });
        }
        "$lookup" => shown.extend(doc! {
            "totalDocsExamined": number(ran.reads.documents),
            "totalKeysExamined": number(ran.reads.keys),
            "collectionScans": number(ran.reads.scans),
            "indexesUsed": ran.reads.indexes.iter().collect::<Vec<_>>(),
        }),
        "$_internalSetWindowFields" => {
            let window = shown.get_document("$_internalSetWindowFields");
            let output = window.and_then(|window| window.get_document("output"));
            let sizes = output.map(sizes).unwrap_or_default();
            shown.extend(doc! {
                "maxFunctionMemoryUsageBytes": sizes,
                "maxTotalMemoryUsageBytes": number(ran.bytes),
                "usedDisk": false,
            });
        }
        _ => {}
    }
    shown.extend(doc! {
        "nReturned": number(ran.returned),
        "executionTimeMillisEstimate": 0_i64,
    });
    shown
}
