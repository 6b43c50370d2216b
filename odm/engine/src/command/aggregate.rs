//! `aggregate`.

mod cursor;

use std::borrow::Cow;

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::args::{Args, Field, Kind, field};
use crate::command::change_stream;
use crate::command::collections::batch_size;
use crate::command::compat::explain::aggregation;
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments;
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::view;
use crate::cursor::query::{Query, QueryOutput};
use crate::pipeline::{self, DOCUMENTS, GEO_NEAR, Leading, Pipeline, outline};
use crate::planner::requirements::Distinct;

pub(crate) use self::cursor::open;

pub(crate) const FIELDS: &[Field] = &[
    field("pipeline", Kind::Any),
    field("cursor", Kind::Any),
    field("explain", Kind::Any),
    field("allowDiskUse", Kind::FindBool),
    field("bypassDocumentValidation", Kind::SafeBool),
    field("hint", Kind::Any),
    field("let", Kind::Object),
    field("collation", Kind::Object),
    field("$queryOptions", Kind::Object),
    // These describe a request of mongos, and do not change mongod's reply.
    field("fromMongos", Kind::FindBool),
    field("isMapReduceCommand", Kind::FindBool),
];

pub(crate) const AGGREGATE: Command = Command {
    name: "aggregate",
    idl: "aggregate",
    fields: FIELDS,
    target: CommandTarget::Database,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: true,
    run: aggregate,
    explain: Some(aggregation::explain),
};

/// How many documents the first batch holds if the command sets no batch size.
pub(crate) const FIRST_BATCH: u64 = 101;

/// A parsed `aggregate`, to run or to explain.
#[derive(Debug)]
pub(crate) struct Aggregate<'a> {
    pub(crate) namespace: Namespace,
    /// The collection that the pipeline reads; for a view, the view's source.
    pub(crate) base: Namespace,
    pub(crate) pipeline: Pipeline,
    pub(crate) leading: Leading,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) globals: Globals,
    /// Whether a stage reads a document's metadata.
    asks: bool,
}

/// A pipeline with its options.
#[derive(Debug)]
pub(crate) struct PipelineRequest<'s, 'a> {
    pub(crate) stages: &'s RawArray,
    pub(crate) collation: Option<&'s RawDocument>,
    pub(crate) variables: Option<&'s RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) allows_disk_use: bool,
}

impl<'a> Aggregate<'a> {
    pub(crate) fn parse(
        call: &Invocation<'_>,
        target: RawBsonRef<'a>,
        args: &Args<'a>,
    ) -> Result<Self, ServerError> {
        let stages = stages_of(args)?;
        let namespace = namespace(call, target)?;
        outline::check(stages, namespace.place())?;
        if change_stream::begins(stages) {
            return Err(super::args::unsupported("to explain $changeStream"));
        }
        let asked = PipelineRequest {
            stages,
            collation: args.document("collation"),
            variables: args.document("let"),
            hint: args.hint()?,
            allows_disk_use: args.allows_disk_use(),
        };
        Self::over(call, namespace, &asked)
    }

    /// A pipeline over a collection or a view.
    pub(crate) fn over(
        call: &Invocation<'_>,
        namespace: Namespace,
        asked: &PipelineRequest<'_, 'a>,
    ) -> Result<Self, ServerError> {
        let root = call.root();
        let collection = root.collection(&namespace).cloned();
        let view = match statistics_stages(asked.stages) {
            // `$collStats` reports on the view itself, not on its source.
            Some("$collStats") => None,
            _ => root.resolve(&namespace)?,
        };
        let mut globals = call.globals(asked.collation, asked.variables, collection.as_deref())?;
        if !asked.allows_disk_use {
            globals = globals.without_disk_use();
        }
        let (base, stages) = match view {
            None => (namespace.clone(), Cow::Borrowed(asked.stages)),
            Some(view) => {
                let given = asked
                    .collation
                    .is_some_and(|collation| !collation.is_empty());
                if given && globals.collator() != view.collation.as_ref() {
                    return Err(ServerError::new(
                        Code::OPTION_NOT_SUPPORTED_ON_VIEW,
                        view::OVERRIDE,
                    ));
                }
                globals = globals.with_collator(view.collation);
                let stages = view::joined(&view.stages, asked.stages);
                (view.namespace, Cow::Owned(stages))
            }
        };
        let stages = &*stages;
        let asks = Pipeline::asks_for_metadata(asked.stages);
        let pipeline = Pipeline::parse(stages, &globals);
        if pipeline.as_ref().err().is_none_or(pipeline::is_of_place) {
            check_namespace(call, &namespace, stages)?;
        }
        let pipeline = pipeline?;
        view::check_collations(&root, &namespace.database, &pipeline, &globals)?;
        view::check_depth(&root, &namespace.database, &pipeline)?;
        view::check_statistics(&root, &namespace.database, &pipeline)?;
        let input = call.context.input();
        if let Some(stage) = pipeline.begins() {
            if input.is_some() {
                return Err(pipeline::not_first(stage));
            }
            check_telling(call, stage)?;
        }
        if call.transaction.is_some() {
            check_unions(stages)?;
        }
        if let Some(target) = pipeline.target() {
            check_target(call, target, &globals)?;
        }
        pipeline.check_constants(&globals)?;
        let pipeline = pipeline.optimized(&globals)?;
        Ok(Self {
            leading: match input {
                Some(_) => Leading::default(),
                None => pipeline.leading(),
            },
            namespace,
            base,
            pipeline,
            hint: asked.hint,
            globals,
            asks,
        })
    }

    /// Whether a stage reads a document's metadata.
    pub(crate) fn asks_for_metadata(&self) -> bool {
        self.asks
    }

    /// The query that the leading stages are equivalent to.
    pub(crate) fn query(&self) -> Query<'_> {
        Query {
            filter: self.leading.filter.as_deref(),
            sort: self.leading.sort.as_deref(),
            // A `$geoNear` takes the hint itself.
            hint: self
                .hint
                .filter(|_| self.pipeline.begins() != Some(GEO_NEAR)),
            skip: self.leading.skip,
            limit: self.leading.limit,
            globals: self.globals.clone(),
            shape: QueryOutput {
                scored: self.asks,
                made_of: self.leading.needs.as_deref(),
                sorted: self.leading.reads.as_deref(),
                distinct: self.leading.first_by.as_ref().map(Distinct::First),
                ..QueryOutput::default()
            },
        }
    }
}

/// The stages of the pipeline, each of which must be a document.
fn stages_of<'a>(args: &Args<'a>) -> Result<&'a RawArray, ServerError> {
    let stages = match args.get("pipeline") {
        Some(RawBsonRef::Array(stages)) => stages,
        None => {
            return Err(ServerError::new(
                Code::location(40414),
                "BSON field 'aggregate.pipeline' is missing but a required field",
            ));
        }
        Some(_) => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                "'pipeline' option must be specified as an array",
            ));
        }
    };
    if raw::values(stages).any(|stage| !matches!(stage, RawBsonRef::Document(_))) {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "Each element of the 'pipeline' array must be an object",
        ));
    }
    Ok(stages)
}

/// The name of the first stage.
fn first_stage(stages: &RawArray) -> Option<&str> {
    let (name, _) = raw::elements(raw::values(stages).next()?.as_document()?).next()?;
    Some(name)
}

/// The name of the first stage, if it reports statistics of the collection.
fn statistics_stages(stages: &RawArray) -> Option<&str> {
    let name = first_stage(stages)?;
    matches!(name, "$collStats" | "$indexStats" | "$planCacheStats").then_some(name)
}

/// Refuses `$documents` over a collection, and any other stage without one.
fn check_namespace(
    call: &Invocation<'_>,
    namespace: &Namespace,
    stages: &RawArray,
) -> Result<(), ServerError> {
    let refuse = |message| Err(ServerError::new(Code::INVALID_NAMESPACE, message));
    let needs_none = &*namespace.collection == "$cmd.aggregate";
    match first_stage(stages) {
        Some(DOCUMENTS) if needs_none => Ok(()),
        Some(DOCUMENTS) => refuse(format!(
            "'{DOCUMENTS}' can only be run with {{aggregate: 1}}"
        )),
        _ if !needs_none || call.context.input().is_some() => Ok(()),
        Some(stage) => refuse(format!(
            "{{aggregate: 1}} is not valid for '{}'; a collection is required.",
            pipeline::made_of(stage)
        )),
        None => refuse("{aggregate: 1} is not valid for an empty pipeline.".to_owned()),
    }
}

/// Refuses a statistics stage in a transaction.
fn check_telling(call: &Invocation<'_>, stage: &str) -> Result<(), ServerError> {
    if call.transaction.is_some() && !matches!(stage, DOCUMENTS | GEO_NEAR) {
        return Err(match stage {
            "$planCacheStats" => generic_arguments::not_in_transaction(stage),
            _ => not_inside(stage),
        });
    }
    Ok(())
}

fn not_inside(stage: &str) -> ServerError {
    ServerError::new(
        Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
        format!("Stage not supported inside of a multi-document transaction: {stage}"),
    )
}

/// Refuses `$unionWith` in a transaction, also inside other stages.
fn check_unions(stages: &RawArray) -> Result<(), ServerError> {
    for stage in raw::values(stages).filter_map(RawBsonRef::as_document) {
        let Some((name, value)) = raw::elements(stage).next() else {
            continue;
        };
        match (name, value) {
            ("$unionWith", _) => return Err(not_inside(name)),
            ("$lookup", RawBsonRef::Document(lookup)) => {
                if let Some(RawBsonRef::Array(stages)) = raw::get(lookup, "pipeline") {
                    check_unions(stages)?;
                }
            }
            ("$facet", RawBsonRef::Document(facets)) => {
                for (_, stages) in raw::elements(facets) {
                    if let RawBsonRef::Array(stages) = stages {
                        check_unions(stages)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The namespace that an `aggregate` reads.
pub(crate) fn namespace(
    call: &Invocation<'_>,
    target: RawBsonRef<'_>,
) -> Result<Namespace, ServerError> {
    let namespace = match target {
        RawBsonRef::String(collection) => Namespace::new(call.database, collection),
        RawBsonRef::Boolean(_) | RawBsonRef::Null => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "collection name has invalid type: {}",
                    odm_language::value::bson_type::alias(target.element_type())
                ),
            ));
        }
        value if super::args::whole(value) == Some(1) => {
            Namespace::new(call.database, "$cmd.aggregate")
        }
        _ => {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Invalid command format: the 'aggregate' field must specify a collection name or 1",
            ));
        }
    };
    namespace.check()?;
    Ok(namespace)
}

/// Refuses targets that the last stage must not write to.
fn check_target(
    call: &Invocation<'_>,
    target: pipeline::WriteTarget<'_>,
    globals: &Globals,
) -> Result<(), ServerError> {
    let stage = target.stage;
    let is_merge = stage == "$merge";
    let refuse = |code, message| Err(ServerError::new(Code::location(code), message));
    if call.transaction.is_some() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!("{stage} cannot be used in a transaction"),
        ));
    }
    let database = target.database.unwrap_or(call.database);
    let namespace = Namespace::new(database, target.collection);
    if namespace.is_system() {
        return refuse(
            if is_merge { 31319 } else { 17385 },
            format!(
                "{} to special collection: {}",
                cannot(stage),
                target.collection
            ),
        );
    }
    if namespace.is_internal() {
        return refuse(
            if is_merge { 31320 } else { 31321 },
            format!("{} to internal database: {database}", cannot(stage)),
        );
    }
    let Some(unique) = target.unique else {
        return Ok(());
    };
    let is_id = |fields: &[String]| matches!(fields, [field] if field == "_id");
    let has_index = match call.find_collection(&namespace) {
        None => is_id(unique),
        Some(collection) => collection.indexes.iter().any(|index| {
            let spec = &index.spec;
            (spec.unique || spec.is_id())
                && spec.partial.is_none()
                && spec.kind == crate::index::spec::Kind::Ordered
                && spec.collation.as_ref() == globals.collator()
                && spec.key.len() == unique.len()
                && unique.iter().all(|field| spec.key.contains_key(field))
        }),
    };
    if has_index {
        Ok(())
    } else {
        refuse(
            51183,
            "Cannot find index to verify that join fields will be unique".to_owned(),
        )
    }
}

/// mongod spells the message differently for the two stages.
fn cannot(stage: &str) -> String {
    if stage == "$merge" {
        format!("Cannot {stage}")
    } else {
        format!("Can't {stage}")
    }
}

/// An explained aggregation writes nothing, so it takes no write concern.
pub(crate) fn check_explained(command: &RawDocument) -> Result<(), ServerError> {
    match raw::get(command, "writeConcern") {
        None => Ok(()),
        Some(RawBsonRef::Document(_)) => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "Aggregation explain does not support the'writeConcern' option",
        )),
        Some(other) => Err(super::args::wrong_type(
            "aggregate.writeConcern",
            other,
            "type 'object'",
        )),
    }
}

fn aggregate(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    match call.args.get("explain") {
        None | Some(RawBsonRef::Boolean(false)) => {}
        Some(RawBsonRef::Boolean(true)) => {
            return aggregation::explain_itself(call);
        }
        Some(_) => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                "explain must be a boolean",
            ));
        }
    }
    // mongod reports a field of the wrong type before a missing field.
    if call.args.get("pipeline").is_some() {
        stages_of(&call.args)?;
    }
    let is_missing = |error: ServerError| match call.args.get("pipeline") {
        None if call.args.get("cursor").is_none() => stages_of(&call.args).err().unwrap_or(error),
        _ => error,
    };
    let batch_size = cursor_option(&call.args).map_err(is_missing)?;
    let target = raw::elements(call.command)
        .next()
        .map_or(RawBsonRef::Null, |(_, value)| value);
    if let Some(RawBsonRef::Array(stages)) = call.args.get("pipeline")
        && change_stream::begins(stages)
    {
        if call.context.input().is_some() {
            return Err(pipeline::not_first("$changeStream"));
        }
        let page = change_stream::open(call, target, stages, batch_size)?;
        return Ok(page.to_reply(cstr!("firstBatch")));
    }
    let aggregate = Aggregate::parse(call, target, &call.args)?;
    let page = aggregate.open(call, batch_size)?;
    Ok(page.to_reply(cstr!("firstBatch")))
}

fn cursor_option(args: &Args<'_>) -> Result<Option<u64>, ServerError> {
    match args.get("cursor") {
        None => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "The 'cursor' option is required, except for aggregate with the explain argument",
        )),
        Some(RawBsonRef::Document(cursor)) => batch_size(Some(cursor), "cursor"),
        Some(_) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "cursor field must be missing or an object",
        )),
    }
}
