//! Explains aggregations, and the aggregations that reads of views become.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::command::aggregate::{self, Aggregate};
use crate::command::args::{Args, unsupported};
use crate::command::create::to_document;
use crate::command::invocation::Invocation;
use crate::command::source::lacks_collection;
use crate::cursor::query::Query;
use crate::pipeline::GEO_NEAR;
use crate::planner::geo::only_field;

use super::explained::{Explained, Verbosity};
use super::goal::OuterStages;
use super::report::answer;

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

/// Explains the part of an aggregation that a plan answers.
pub(crate) fn report(
    call: &Invocation<'_>,
    explained: &Explained<'_>,
    aggregate: &Aggregate<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    if aggregate.pipeline.begins() == Some(GEO_NEAR) {
        return near(call, explained, aggregate);
    }
    if let Some(stage) = aggregate.pipeline.begins() {
        return Err(unsupported(&format!("to explain {stage}")));
    }
    let query = aggregate.query();
    let around = OuterStages {
        sort: query.sort.map(to_document).transpose()?,
        ..OuterStages::default()
    };
    answer(call, explained, &aggregate.base, &query, &around)
}

/// Explains the query that finds the documents of a `$geoNear`.
fn near(
    call: &Invocation<'_>,
    explained: &Explained<'_>,
    aggregate: &Aggregate<'_>,
) -> Result<RawDocumentBuf, ServerError> {
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
    answer(
        call,
        explained,
        &aggregate.base,
        &query,
        &OuterStages::default(),
    )
}
