//! Explains aggregations, and the aggregations that reads of views become.
//!
//! A pipeline that one query answers is shown as that query, any other as a list of stages: the query that feeds it, and
//! the stages behind it with what they did.

use std::cell::RefCell;

use bson::raw::{RawArray, RawBsonRef, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::catalog::options::to_raw;
use crate::command::aggregate::{self, Aggregate, PipelineRequest};
use crate::command::args::Args;
use crate::command::create::to_document;
use crate::command::invocation::Invocation;
use crate::command::source::lacks_collection;
use crate::cursor::query::{Query, QueryOutput};
use crate::pipeline::{Counts, DOCUMENTS, GEO_NEAR, Printer, number};
use crate::planner::geo::only_field;

use super::explained::{Explained, Verbosity};
use super::goal::OuterStages;
use super::report::{PlannedQuery, planned};
use super::{show, size};

/// The `explain` of `aggregate`.
pub(crate) fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    aggregate::check_explained(explained.command)?;
    let aggregate = Aggregate::parse(call, explained.target, explained.args)?;
    report(call, explained, &aggregate)
}

/// `aggregate` with `explain: true`.
pub(crate) fn explain_itself(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let args = Args::of_command(call.command, "aggregate", aggregate::FIELDS)?;
    let target = raw::elements(call.command)
        .next()
        .map_or(RawBsonRef::Null, |(_, value)| value);
    let explained = Explained {
        command: call.command,
        target,
        args: &args,
        namespace: call.namespace,
        verbosity: Verbosity::Planner,
    };
    explain(call, &explained)
}

/// Explains an aggregation.
pub(crate) fn report(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
    aggregate: &Aggregate<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let mut fields = doc! { "explainVersion": "1" };
    match parts(call, explained, aggregate, true)? {
        (Some(cursor), shown) if shown.is_empty() && cursor.name == CURSOR => {
            fields.extend(cursor.fields);
        }
        (cursor, shown) => {
            let cursor = cursor.map(Cursor::into_stage);
            let stages: Vec<Document> = cursor.into_iter().chain(shown).collect();
            fields.insert("stages", stages);
        }
    }
    size::limited(fields, explained.command, call.database)
}

const CURSOR: &str = "$cursor";

/// The query that feeds a pipeline.
struct Cursor {
    name: &'static str,
    fields: Document,
    /// How many of its documents the next stage took, if the pipeline ran.
    returned: Option<u64>,
}

impl Cursor {
    fn into_stage(self) -> Document {
        let mut shown = doc! { self.name: self.fields };
        if let Some(returned) = self.returned {
            shown.insert("nReturned", number(returned));
            shown.insert("executionTimeMillisEstimate", 0_i64);
        }
        shown
    }
}

/// The query that feeds a pipeline, and the stages behind it.
fn parts(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
    aggregate: &Aggregate<'_>,
    is_outermost: bool,
) -> Result<(Option<Cursor>, Vec<Document>), ServerError> {
    let counts = match explained.verbosity {
        Verbosity::Planner => None,
        Verbosity::Stats | Verbosity::AllPlans => {
            let counts = Counts::default();
            aggregate.count(call, &counts)?;
            Some(counts)
        }
    };
    let counts = counts.as_ref();
    let pipeline = &aggregate.pipeline;
    let (cursor, from, is_distinct) = match pipeline.begins() {
        Some(GEO_NEAR) => {
            let returned = counts.map(|counts| counts.of((pipeline.address(), Some(0))).returned);
            let found = near(call, explained, aggregate)?;
            let cursor = Cursor {
                name: "$geoNearCursor",
                fields: found.fields,
                returned,
            };
            (Some(cursor), 1, false)
        }
        Some(_) => (None, 0, false),
        None => {
            let mut fed = feeding(call, explained, aggregate, is_outermost)?;
            let last = if fed.is_distinct {
                Some(fed.from)
            } else {
                fed.is_pushed.then_some(aggregate.leading.stages)
            };
            fed.cursor.returned =
                counts.map(|counts| counts.of((pipeline.address(), last)).returned);
            (Some(fed.cursor), fed.from, fed.is_distinct)
        }
    };
    let printer = StagePrinter {
        database: call.database,
        globals: &aggregate.globals,
        call: RefCell::new(call),
        explained,
        counts,
    };
    let mut shown = pipeline.shown(from, &printer)?;
    if pipeline.begins() == Some(DOCUMENTS) && counts.is_some() {
        // The first two of its stages pass one document, with an array of all others.
        for stage in shown.iter_mut().take(2) {
            stage.insert("nReturned", number(1));
        }
    }
    if is_distinct && let Some(group) = shown.first_mut() {
        *group = by_distinct_scan(group);
    }
    Ok((cursor, shown))
}

/// An explained query, and where the stages behind it begin.
struct Fed {
    cursor: Cursor,
    /// The index of the first stage behind it.
    from: usize,
    /// Whether the query makes the projection of a stage.
    is_pushed: bool,
    /// Whether its plan takes over a `$group`.
    is_distinct: bool,
}

/// Explains the query that finds the documents of a pipeline.
fn feeding(
    call: &Invocation<'_>,
    explained: &Explained<'_>,
    aggregate: &Aggregate<'_>,
    is_outermost: bool,
) -> Result<Fed, ServerError> {
    let (pipeline, leading) = (&aggregate.pipeline, &aggregate.leading);
    let globals = &aggregate.globals;
    let behind = leading.stages;
    let is_whole = leading.is_whole();
    let has_metadata = aggregate.asks_for_metadata();
    let pushed = if has_metadata {
        None
    } else {
        pipeline.pushed(behind, is_whole, globals)
    };
    let needed = if has_metadata || pushed.is_some() {
        None
    } else {
        pipeline.dependencies(behind)
    };
    let from = behind + usize::from(pushed.is_some());
    let is_counted = needed.as_ref().is_some_and(Vec::is_empty);
    let projection = match (pushed, needed) {
        (Some(pushed), _) => Some(pushed),
        (None, Some(paths)) if !paths.is_empty() => Some(inclusion(paths)),
        _ => None,
    };
    let projection = projection.as_ref().map(to_raw).transpose()?;
    let query = aggregate.query();
    let query = Query {
        shape: QueryOutput {
            projection: projection.as_deref(),
            made_of: is_counted.then_some(&[]),
            ..query.shape
        },
        ..query
    };
    let around = OuterStages {
        projection: projection.as_deref(),
        sort: query.sort.map(to_document).transpose()?,
        is_pipeline: is_outermost && from >= pipeline.len(),
        ..OuterStages::default()
    };
    let found = planned(call, explained, &aggregate.base, &query, &around)?;
    let is_missing = call.find_collection(&aggregate.base).is_none();
    Ok(Fed {
        cursor: Cursor {
            name: CURSOR,
            fields: found.fields,
            returned: None,
        },
        from,
        is_pushed: from > behind,
        is_distinct: found.is_distinct || is_missing && leading.first_by.is_some(),
    })
}

/// `{a: 1, b: 1, _id: 0}`.
fn inclusion(paths: Vec<String>) -> Document {
    let has_id = paths.iter().any(|path| path == "_id");
    let mut shown = Document::new();
    if has_id {
        shown.insert("_id", 1);
    }
    let others = paths.into_iter().filter(|path| path != "_id");
    shown.extend(others.map(|path| (path, 1.into())));
    if !has_id {
        shown.insert("_id", 0);
    }
    shown
}

/// A `$group` whose documents the plan already tells apart.
fn by_distinct_scan(group: &Document) -> Document {
    let mut root = Document::new();
    for (name, value) in group.get_document("$group").into_iter().flatten() {
        let first = value.as_document().and_then(|value| value.get("$first"));
        root.insert(name, first.unwrap_or(value));
    }
    let mut shown = doc! { "$groupByDistinctScan": { "newRoot": root } };
    for name in ["nReturned", "executionTimeMillisEstimate"] {
        shown.extend(
            group
                .get(name)
                .map(|value| (name.to_owned(), value.clone())),
        );
    }
    shown
}

/// Prints the stages of an explained aggregation.
struct StagePrinter<'p, 'c, 'a> {
    database: &'a str,
    globals: &'p Globals,
    call: RefCell<&'c mut Invocation<'a>>,
    explained: &'p Explained<'p>,
    counts: Option<&'p Counts>,
}

impl Printer for StagePrinter<'_, '_, '_> {
    fn globals(&self) -> &Globals {
        self.globals
    }

    fn database(&self) -> &str {
        self.database
    }

    fn counts(&self) -> Option<&Counts> {
        self.counts
    }

    fn filter(&self, matcher: &Matcher) -> Document {
        // mongod orders the conditions of a query, not those of a stage.
        show::filter(matcher.predicate())
    }

    fn over(&self, collection: &str, written: &RawArray) -> Result<Vec<Document>, ServerError> {
        let collation = self.globals.collator().map(Collator::document);
        let collation = collation.as_ref().map(to_raw).transpose()?;
        let asked = PipelineRequest {
            stages: written,
            collation: collation.as_deref(),
            variables: None,
            hint: None,
            allows_disk_use: self.globals.allows_disk_use(),
        };
        let mut call = self.call.borrow_mut();
        let namespace = Namespace::new(self.database, collection);
        let aggregate = Aggregate::over(&call, namespace, &asked)?;
        let (cursor, shown) = parts(&mut call, self.explained, &aggregate, false)?;
        let cursor = cursor.map(Cursor::into_stage);
        Ok(cursor.into_iter().chain(shown).collect())
    }
}

/// Explains the query that finds the documents of a `$geoNear`.
fn near(
    call: &Invocation<'_>,
    explained: &Explained<'_>,
    aggregate: &Aggregate<'_>,
) -> Result<PlannedQuery, ServerError> {
    let collection = call
        .find_collection(&aggregate.base)
        .ok_or_else(|| lacks_collection(&aggregate.base))?;
    let only = || only_field(&collection.indexes, &aggregate.base).map(ToOwned::to_owned);
    let filter = aggregate
        .pipeline
        .near(&only, &aggregate.globals)
        .transpose()?;
    let query = Query {
        filter: filter.as_deref(),
        hint: aggregate.hint,
        ..aggregate.query()
    };
    let around = OuterStages::default();
    planned(call, explained, &aggregate.base, &query, &around)
}
