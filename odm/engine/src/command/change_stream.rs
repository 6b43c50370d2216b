//! Pipelines that begin with `$changeStream`.

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocument};
use bson::rawdoc;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::aggregate::{self, FIRST_BATCH};
use crate::command::args::{Args, Field, Kind, field, wrong_type};
use crate::command::batch::{first_batch, session_of};
use crate::command::generic_arguments;
use crate::command::invocation::Invocation;
use crate::command::reply::Page;
use crate::cursor::registry::{Cursor, Tail};
use crate::cursor::stream::{Images, Lookup, Scope, Stream, StreamOptions, Token};
use crate::pipeline::{self, Pipeline, outline};

const STAGE: &str = "$changeStream";

pub(crate) const FIELDS: &[Field] = &[
    field("allChangesForCluster", Kind::Bool),
    field("fullDocument", Kind::Str),
    field("fullDocumentBeforeChange", Kind::Str),
    field("resumeAfter", Kind::Object),
    field("showExpandedEvents", Kind::FindBool),
    field("startAfter", Kind::Object),
    field("startAtOperationTime", Kind::Any),
];

/// The stages that may follow `$changeStream`.
const ALLOWED: &[&str] = &[
    "$_internalInhibitOptimization",
    "$addFields",
    "$match",
    "$project",
    "$redact",
    "$replaceRoot",
    "$replaceWith",
    "$set",
    "$unset",
];

/// Whether a pipeline begins with `$changeStream`.
pub(crate) fn begins(stages: &RawArray) -> bool {
    first(stages).is_some_and(|(name, _)| name == STAGE)
}

fn first(stages: &RawArray) -> Option<(&str, RawBsonRef<'_>)> {
    named(raw::values(stages).next()?)
}

fn named(stage: RawBsonRef<'_>) -> Option<(&str, RawBsonRef<'_>)> {
    match stage {
        RawBsonRef::Document(stage) => raw::elements(stage).next(),
        _ => None,
    }
}

/// Opens a change stream and returns its first batch.
pub(crate) fn open(
    call: &mut Invocation<'_>,
    target: RawBsonRef<'_>,
    stages: &RawArray,
    batch_size: Option<u64>,
) -> Result<Page, ServerError> {
    let namespace = aggregate::namespace(call, target)?;
    outline::check(stages, namespace.place())?;
    // `outline::check` ensures that this is a document.
    let spec = first(stages).and_then(|(_, spec)| spec.as_document());
    let spec = spec.unwrap_or_else(|| raw::empty_document());
    let args = Args::of_statement(spec, STAGE, FIELDS)?;
    check_place(call)?;
    let scope = scope(&namespace, args.flag("allChangesForCluster"))?;
    if let Scope::Collection(watched) = &scope {
        call.check_not_view(watched)?;
    }
    let options = StreamOptions {
        lookup: lookup(&args)?,
        images: images(&args)?,
        expanded: args.flag("showExpandedEvents"),
    };
    let from = from(&args)?;
    let mut behind = RawArrayBuf::new();
    // The extra first stage makes the parser refuse stages that may only be first.
    behind.push(rawdoc! { "$match": {} });
    for stage in raw::values(stages).skip(1) {
        if let Some((name, _)) = named(stage)
            && name != STAGE
            && !ALLOWED.contains(&name)
        {
            return Err(ServerError::new(
                Code::ILLEGAL_OPERATION,
                format!(
                    "{} is not permitted in a $changeStream pipeline",
                    pipeline::made_of(name)
                ),
            ));
        }
        behind.push(stage);
    }
    let globals = call.globals(
        call.args.document("collation"),
        call.args.document("let"),
        None,
    )?;
    let pipeline = Pipeline::parse(&behind, &globals)?;
    pipeline
        .check_constants(&globals)
        .map_err(|error| error.within("Failed to optimize pipeline"))?;
    let catalog = &call.engine.catalog;
    catalog.log_changes(call.now);
    let from = from.unwrap_or_else(|| Token::Before(catalog.changes.end(&catalog.clock).0));
    let stream = Stream::new(scope, options, pipeline, globals, from);
    let cursor = Cursor {
        namespace,
        results: Box::new(stream),
        held: None,
        collection: None,
        base: None,
        session: session_of(call),
        transaction: None,
        time: None,
        no_timeout: false,
        limited: false,
        tail: Tail::AwaitData,
        used: call.now.timestamp_millis(),
        tally: None,
    };
    first_batch(call, cursor, Some(batch_size.unwrap_or(FIRST_BATCH)), false)
        .map_err(|error| error.within("PlanExecutor error during aggregation"))
}

/// Refuses a change stream in a transaction, and with a read concern other than `majority`.
fn check_place(call: &Invocation<'_>) -> Result<(), ServerError> {
    if call.transaction.is_some() {
        return Err(generic_arguments::not_in_transaction("$changeStream"));
    }
    let level = raw::get(call.command, "readConcern")
        .and_then(RawBsonRef::as_document)
        .and_then(|concern| raw::get(concern, "level")?.as_str());
    match level {
        None | Some("majority") => Ok(()),
        Some(level) => Err(ServerError::new(
            Code::INVALID_OPTIONS,
            format!(
                "Command aggregate does not support {{ readConcern: {{ level: \"{level}\", provenance: \
                 \"clientSupplied\" }} }} :: caused by :: Aggregation stage $changeStream cannot run with a readConcern \
                 other than 'majority'. Current readConcern: {level}"
            ),
        )),
    }
}

fn scope(namespace: &Namespace, is_cluster: bool) -> Result<Scope, ServerError> {
    let database = &*namespace.database;
    let is_whole = &*namespace.collection == "$cmd.aggregate";
    if is_cluster {
        if database == "admin" && is_whole {
            return Ok(Scope::Cluster);
        }
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            format!(
                "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no \
                 collection name; found {namespace}"
            ),
        ));
    }
    let internal = |what: String| {
        Err(ServerError::new(
            Code::INVALID_NAMESPACE,
            format!("$changeStream may not be opened on the internal {what}"),
        ))
    };
    if namespace.is_internal() {
        return internal(format!("{database} database"));
    }
    if namespace.is_system() {
        return internal(format!("{namespace} collection"));
    }
    Ok(if is_whole {
        Scope::Database(database.into())
    } else {
        Scope::Collection(namespace.clone())
    })
}

fn invalid(field: &str, value: &str) -> ServerError {
    ServerError::new(
        Code::BAD_VALUE,
        format!("Enumeration value '{value}' for field '{STAGE}.{field}' is not a valid value."),
    )
}

fn lookup(args: &Args<'_>) -> Result<Lookup, ServerError> {
    match args.str("fullDocument") {
        None | Some("default") => Ok(Lookup::Never),
        Some("updateLookup") => Ok(Lookup::Now),
        Some("whenAvailable") => Ok(Lookup::Image(false)),
        Some("required") => Ok(Lookup::Image(true)),
        Some(other) => Err(invalid("fullDocument", other)),
    }
}

fn images(args: &Args<'_>) -> Result<Images, ServerError> {
    match args.str("fullDocumentBeforeChange") {
        None | Some("off") => Ok(Images::Never),
        Some("whenAvailable") => Ok(Images::Image(false)),
        Some("required") => Ok(Images::Image(true)),
        Some(other) => Err(invalid("fullDocumentBeforeChange", other)),
    }
}

/// The token at which the stream begins, if the command names one.
fn from(args: &Args<'_>) -> Result<Option<Token>, ServerError> {
    let time = match args.get("startAtOperationTime") {
        None => None,
        Some(RawBsonRef::Timestamp(time)) => Some(time),
        Some(other) => {
            let name = format!("{STAGE}.startAtOperationTime");
            return Err(wrong_type(&name, other, "type 'timestamp'"));
        }
    };
    let resume: Option<&RawDocument> = args.document("resumeAfter");
    let start = args.document("startAfter");
    if resume.is_some() && start.is_some() {
        return Err(ServerError::new(
            Code::location(50865),
            "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage",
        ));
    }
    let Some(token) = resume.or(start) else {
        return Ok(time.map(Token::Before));
    };
    if time.is_some() {
        return Err(ServerError::new(
            Code::location(40674),
            "Only one type of resume option is allowed, but multiple were found",
        ));
    }
    let token = Token::parse(token)?;
    if resume.is_some() && matches!(token, Token::Of { is_end: true, .. }) {
        return Err(ServerError::new(
            Code::INVALID_RESUME_TOKEN,
            "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification",
        ));
    }
    Ok(Some(token))
}
