//! The table of stages.

mod bucket;
mod bucket_auto;
mod change_stream;
mod count;
mod densify;
mod documents;
mod facet;
mod fill;
mod foreign;
mod geo_near;
mod graph_lookup;
mod group;
mod inhibit;
mod limit;
mod lookup;
mod matching;
mod merge;
mod out;
mod redact;
mod reshape;
mod sample;
mod sequence;
mod set_window_fields;
mod skip;
mod sort;
mod sort_by_count;
mod stats;
mod union_with;
mod unwind;

pub(super) use self::matching::of_filter;

use bson::raw::RawBsonRef;
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::refusal;

use crate::pipeline::outline::Place;
use crate::pipeline::stage::Stage;

/// Checks the outline of a stage, before everything else of a pipeline.
pub(super) type Outline = fn(RawBsonRef<'_>, Place<'_>) -> Result<(), ServerError>;

type Parse = fn(&str, RawBsonRef<'_>, &Globals) -> Result<Box<dyn Stage>, ServerError>;

/// The stages with their parsers and options, sorted by name.
const STAGES: &[(&str, Parse, &[&str])] = &[
    ("$_internalInhibitOptimization", inhibit::parse, &[]),
    ("$addFields", reshape::set, &[]),
    (
        "$bucket",
        bucket::parse,
        &["boundaries", "default", "groupBy", "output"],
    ),
    (
        "$bucketAuto",
        bucket_auto::parse,
        &["buckets", "granularity", "groupBy", "output"],
    ),
    ("$changeStream", change_stream::parse, &[]),
    ("$collStats", stats::collection, stats::PARTS),
    ("$count", count::parse, &[]),
    (
        "$densify",
        densify::parse,
        &["field", "partitionByFields", "range"],
    ),
    ("$documents", documents::parse, &[]),
    ("$facet", facet::parse, &[]),
    (
        "$fill",
        fill::parse,
        &["output", "partitionBy", "partitionByFields", "sortBy"],
    ),
    ("$geoNear", geo_near::parse, geo_near::OPTIONS),
    (
        "$graphLookup",
        graph_lookup::parse,
        &[
            "as",
            "connectFromField",
            "connectToField",
            "depthField",
            "from",
            "maxDepth",
            "restrictSearchWithMatch",
            "startWith",
        ],
    ),
    ("$group", group::parse, &[]),
    ("$indexStats", stats::indexes, &[]),
    ("$limit", limit::parse, &[]),
    (
        "$lookup",
        lookup::parse,
        &[
            "as",
            "foreignField",
            "from",
            "let",
            "localField",
            "pipeline",
        ],
    ),
    ("$match", matching::parse, &[]),
    (
        "$merge",
        merge::parse,
        &["into", "let", "on", "whenMatched", "whenNotMatched"],
    ),
    ("$out", out::parse, &["coll", "db"]),
    ("$planCacheStats", stats::plans, &[]),
    ("$project", reshape::project, &[]),
    ("$redact", redact::parse, &[]),
    ("$replaceRoot", reshape::replace, &["newRoot"]),
    ("$replaceWith", reshape::replace, &[]),
    ("$sample", sample::parse, &["size"]),
    ("$set", reshape::set, &[]),
    (
        "$setWindowFields",
        set_window_fields::parse,
        &["output", "partitionBy", "sortBy"],
    ),
    ("$skip", skip::parse, &[]),
    ("$sort", sort::parse, &[]),
    ("$sortByCount", sort_by_count::parse, &[]),
    ("$unionWith", union_with::parse, &["coll", "pipeline"]),
    ("$unset", reshape::unset, &[]),
    (
        "$unwind",
        unwind::parse,
        &["includeArrayIndex", "path", "preserveNullAndEmptyArrays"],
    ),
];

/// The stages that name other collections or contain pipelines; sorted.
const OUTLINES: &[(&str, Outline)] = &[
    ("$changeStream", change_stream::outline),
    ("$collStats", stats::outline),
    ("$facet", facet::outline),
    ("$graphLookup", graph_lookup::outline),
    ("$lookup", lookup::outline),
    ("$merge", merge::outline),
    ("$out", out::outline),
    ("$unionWith", union_with::outline),
];

/// mongod's stages that the engine does not support, sorted; using one is an error.
const UNSUPPORTED: &[&str] = &[
    "$currentOp",
    "$listCachedAndActiveUsers",
    "$listCatalog",
    "$listLocalSessions",
    "$listSessions",
    "$mergeCursors",
    "$operationMetrics",
    "$queue",
    "$search",
    "$setVariableFromSubPipeline",
    "$shardedDataDistribution",
];

/// Parses one stage.
pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let row = STAGES
        .binary_search_by_key(&name, |(known, ..)| known)
        .ok()
        .and_then(|index| STAGES.get(index));
    match row {
        Some((name, parse, _)) => parse(name, spec, globals),
        None if UNSUPPORTED.binary_search(&name).is_ok() => Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            format!(
                "the stage {name} is not supported by the in-memory engine{}",
                refusal::because(name)
            ),
        )),
        None => Err(unknown(name)),
    }
}

/// Returns the outline check of a stage, if it has one. Fails if no stage has the name.
pub(super) fn outline(name: &str) -> Result<Option<Outline>, ServerError> {
    let known = STAGES
        .binary_search_by_key(&name, |(known, ..)| known)
        .is_ok()
        || UNSUPPORTED.binary_search(&name).is_ok();
    if !known {
        return Err(unknown(name));
    }
    let row = OUTLINES.binary_search_by_key(&name, |(known, _)| known);
    Ok(row.ok().and_then(|at| OUTLINES.get(at)).map(|row| row.1))
}

#[cfg(test)]
pub(crate) use self::group::runs as runs_accumulator;
#[cfg(test)]
pub(crate) use self::set_window_fields::runs as runs_window_operator;

/// Every stage, and whether the engine supports it.
#[cfg(test)]
pub(crate) fn known() -> Vec<(&'static str, bool)> {
    let run = STAGES.iter().map(|(name, ..)| (*name, true));
    run.chain(UNSUPPORTED.iter().map(|name| (*name, false)))
        .collect()
}

/// The options of the stages that have options.
#[cfg(test)]
pub(crate) fn known_options() -> Vec<(&'static str, &'static [&'static str])> {
    let run = STAGES.iter().map(|(name, _, options)| (*name, *options));
    run.filter(|(_, options)| !options.is_empty()).collect()
}

fn unknown(name: &str) -> ServerError {
    ServerError::new(
        Code::location(40324),
        format!("Unrecognized pipeline stage name: '{name}'"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted() {
        assert!(STAGES.is_sorted_by_key(|(name, ..)| *name));
        assert!(UNSUPPORTED.is_sorted());
        assert!(OUTLINES.is_sorted_by_key(|(name, _)| *name));
    }
}
