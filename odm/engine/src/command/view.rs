//! Reads of views: a `find`, `count` or `distinct` on a view runs as a pipeline.

use std::collections::HashMap;

use bson::RawDocumentBuf;
use bson::raw::{CStr, RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, check_pipeline_depth};
use odm_language::value::raw;

use crate::catalog::Root;
use crate::catalog::namespace::Namespace;
use crate::command::aggregate::{Aggregate, PipelineRequest};
use crate::command::args::Args;
use crate::command::find::Find;
use crate::command::invocation::Invocation;
use crate::cursor::query::Query;
use crate::pipeline::{Other, Pipeline, not_first};

/// Converts a `find` on a view to a pipeline.
pub(crate) fn find<'a>(
    call: &Invocation<'_>,
    namespace: Namespace,
    args: &Args<'a>,
) -> Result<Aggregate<'a>, ServerError> {
    // mongod reports errors in the query itself first.
    let find = Find::parse(call, &namespace, args, None)?;
    find.query.prepare(None)?;
    for option in ["min", "max"] {
        if args.filled(option).is_some() {
            return Err(no_option(option));
        }
    }
    if args.flag("tailable") {
        return Err(ServerError::new(
            Code::INVALID_PIPELINE_OPERATOR,
            "Tailable cursors are not supported in aggregation.",
        ));
    }
    for option in [
        "singleBatch",
        "noCursorTimeout",
        "allowPartialResults",
        "returnKey",
        "showRecordId",
        "readOnce",
    ] {
        // A single document fits one batch in any case.
        let harmless = option == "singleBatch" && find.query.limit == Some(1);
        if args.flag(option) && !harmless {
            return Err(no_option(option));
        }
    }
    let mut stages = RawArrayBuf::new();
    push_query(&mut stages, &find.query);
    let natural = find
        .sort
        .filter(|sort| raw::get(sort, "$natural").is_some());
    if let Some(sort) = find.sort.filter(|_| natural.is_none()) {
        push(&mut stages, cstr!("$sort"), sort.to_owned());
    }
    push_range(&mut stages, &find.query);
    if let Some(projection) = find.projection_document {
        push(&mut stages, cstr!("$project"), projection.to_owned());
    }
    let asked = PipelineRequest {
        stages: &stages,
        collation: args.document("collation"),
        variables: args.document("let"),
        // A `$natural` sort acts as a hint. The query's own hint, if any, agrees with it.
        hint: natural.map(RawBsonRef::Document).or(find.query.hint),
        allows_disk_use: args.allows_disk_use(),
    };
    Aggregate::over(call, namespace, &asked).map_err(|error| {
        if error.message().contains("$elemMatch") {
            return ServerError::new(
                Code::INVALID_PIPELINE_OPERATOR,
                format!("Unsupported in view pipeline: {}", error.message()),
            );
        }
        error
    })
}

/// Converts a query on a view to a pipeline; `last` is its last stage.
pub(crate) fn query<'a>(
    call: &Invocation<'_>,
    namespace: Namespace,
    query: &Query<'a>,
    collation: Option<&RawDocument>,
    last: Option<(&CStr, RawBson)>,
) -> Result<Aggregate<'a>, ServerError> {
    let mut stages = RawArrayBuf::new();
    push_query(&mut stages, query);
    push_range(&mut stages, query);
    if let Some((name, value)) = last {
        push(&mut stages, name, value);
    }
    let asked = PipelineRequest {
        stages: &stages,
        collation,
        variables: None,
        hint: query.hint,
        allows_disk_use: query.globals.allows_disk_use(),
    };
    Aggregate::over(call, namespace, &asked)
}

fn push(stages: &mut RawArrayBuf, name: &CStr, value: impl Into<RawBson>) {
    let mut stage = RawDocumentBuf::new();
    stage.append(name, value.into());
    stages.push(stage);
}

fn push_query(stages: &mut RawArrayBuf, query: &Query<'_>) {
    if let Some(filter) = query.filter.filter(|filter| !filter.is_empty()) {
        push(stages, cstr!("$match"), filter.to_owned());
    }
}

fn push_range(stages: &mut RawArrayBuf, query: &Query<'_>) {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    if query.skip > 0 {
        push(stages, cstr!("$skip"), whole(query.skip));
    }
    if let Some(limit) = query.limit {
        push(stages, cstr!("$limit"), whole(limit));
    }
}

pub(crate) fn no_option(name: &str) -> ServerError {
    ServerError::new(
        Code::INVALID_PIPELINE_OPERATOR,
        format!("Option {name} not supported in aggregation."),
    )
}

/// The stages of a view, followed by the stages of a pipeline on it.
pub(crate) fn joined(one: &RawArray, other: &RawArray) -> RawArrayBuf {
    raw::values(one).chain(raw::values(other)).collect()
}

/// Refuses statistics stages on a view that has stages of its own.
pub(crate) fn check_statistics(
    root: &Root,
    database: &str,
    pipeline: &Pipeline,
) -> Result<(), ServerError> {
    for (collection, stage) in pipeline.statistics_stages() {
        let view = root.resolve(&Namespace::new(database, collection))?;
        if view.is_some_and(|view| !view.stages.is_empty()) {
            return Err(not_first(stage));
        }
    }
    Ok(())
}

fn name_of(other: &Other, database: &str) -> Namespace {
    Namespace::new(
        other.database.as_deref().unwrap_or(database),
        &other.collection,
    )
}

/// Refuses a pipeline that reads views with another collation than its own.
pub(crate) fn check_collations(
    root: &Root,
    database: &str,
    pipeline: &Pipeline,
    globals: &Globals,
) -> Result<(), ServerError> {
    let mut read = pipeline.collections();
    if pipeline.target().is_some() {
        read.pop();
    }
    for other in read {
        let namespace = name_of(&other, database);
        if let Some(view) = root.view(&namespace)
            && view.collation.as_ref() != globals.collator()
        {
            // mongod's message for views within the pipeline.
            return Err(ServerError::new(
                Code::OPTION_NOT_SUPPORTED_ON_VIEW,
                format!("{OVERRIDE}{namespace}"),
            ));
        }
    }
    Ok(())
}

/// Refuses a pipeline if the views that it reads nest pipelines too deeply.
pub(crate) fn check_depth(
    root: &Root,
    database: &str,
    pipeline: &Pipeline,
) -> Result<(), ServerError> {
    for other in pipeline.collections() {
        let Some(depth) = other.depth else {
            continue;
        };
        let below = root.pipelines_in(&name_of(&other, database), &mut HashMap::new());
        check_pipeline_depth(depth + below)?;
    }
    Ok(())
}

pub(crate) const OVERRIDE: &str = "Cannot override a view's default collation";
