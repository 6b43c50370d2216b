//! `explain`: the plan as a tree of stages, and what running it would look at.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use crate::engine::catalog::collection::Collection;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::command::aggregate::{self, Aggregate};
use crate::engine::command::args::{Args, Kind, field, type_name};
use crate::engine::command::call::Call;
use crate::engine::command::create::{check_word, to_document};
use crate::engine::command::find::{Find, explain_hint};
use crate::engine::command::insert::batch;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{self, Command, InTransaction, Target};
use crate::engine::command::{count, delete, update, view};
use crate::engine::cursor::query::{Prepared, Query};
use crate::engine::planner::Access;
use crate::error::{Code, ServerError};
use crate::value::raw;

pub(crate) const EXPLAIN: Command = Command {
    name: "explain",
    idl: "explain",
    fields: &[field("verbosity", Kind::Str)],
    target: Target::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: explain,
};

const VERBOSITIES: &[&str] = &["queryPlanner", "executionStats", "allPlansExecution"];

/// What wraps the query's own stages.
#[derive(Debug, Default)]
struct Around<'a> {
    /// Of a `find`: its projection, its sort.
    projection: Option<&'a RawDocument>,
    sort: Option<Document>,
    /// Stages above all others, outermost last.
    above: Vec<&'static str>,
}

fn explain(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let inner = match raw::elements(call.command).next() {
        Some((_, RawBsonRef::Document(inner))) => inner,
        other => {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "BSON field 'explain.explain' is the wrong type '{}', expected type 'object'",
                    other.map_or("null", |(_, value)| type_name(value.element_type()))
                ),
            ));
        }
    };
    let verbosity = call.args.str("verbosity").unwrap_or("allPlansExecution");
    check_word("explain", "verbosity", verbosity, VERBOSITIES)?;
    let executes = verbosity != "queryPlanner";
    let Some((name, value)) = raw::elements(inner).next() else {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "the command is empty",
        ));
    };
    let Some(row) = table::find(name) else {
        return Err(ServerError::new(
            Code::COMMAND_NOT_FOUND,
            format!("Explain failed due to unknown command: {name}"),
        ));
    };
    let args = Args::of_command(inner, row.idl, row.fields)?;
    let collection = match value {
        RawBsonRef::String(name) => name,
        _ => "",
    };
    let namespace = Namespace::new(call.database, collection);
    let viewed = call.find_view(&namespace).is_some();
    if matches!(row.name, "update" | "delete" | "findAndModify") {
        call.check_not_view(&namespace)?;
    }
    match row.name {
        "find" if viewed => {
            let aggregate = view::find(call, namespace, &args)?;
            explain_aggregate(call, inner, &aggregate, &args, executes)
        }
        "count" | "distinct" if viewed => {
            let query = match row.name {
                "count" => count::query(call, &namespace, &args)?,
                _ => plain(call, &namespace, args.document("query"), None)?,
            };
            let collation = args.document("collation");
            let aggregate = view::query(call, namespace, &query, collation, None)?;
            explain_aggregate(call, inner, &aggregate, &args, executes)
        }
        "find" => {
            let find = Find::parse(call, &namespace, &args)?;
            let around = Around {
                projection: find.projection_document,
                sort: find.sort.map(to_document).transpose()?,
                above: Vec::new(),
            };
            answer(
                call,
                inner,
                &namespace,
                &args,
                &find.query,
                &around,
                executes,
            )
        }
        "count" => {
            let query = count::query(call, &namespace, &args)?;
            let around = Around {
                above: vec!["COUNT"],
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, executes)
        }
        "distinct" => {
            let query = plain(
                call,
                &namespace,
                args.document("query"),
                args.document("collation"),
            )?;
            answer(
                call,
                inner,
                &namespace,
                &args,
                &query,
                &Around::default(),
                executes,
            )
        }
        "aggregate" => {
            let aggregate = Aggregate::parse(call, value, &args)?;
            explain_aggregate(call, inner, &aggregate, &args, executes)
        }
        "update" => {
            let array = args.array_or_empty("updates");
            let statement = one(batch(array, "update.updates")?)?;
            let row = update::Row::parse(statement)?;
            let mut query = plain(call, &namespace, Some(row.q), row.collation)?;
            query.hint = row.hint;
            let around = Around {
                above: vec!["UPDATE"],
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, executes)
        }
        "delete" => {
            let array = args.array_or_empty("deletes");
            let statement = one(batch(array, "delete.deletes")?)?;
            let row = delete::Row::parse(statement)?;
            let mut query = plain(call, &namespace, Some(row.q), row.collation)?;
            query.hint = row.hint;
            let around = Around {
                above: vec!["DELETE"],
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, executes)
        }
        "findAndModify" => {
            let mut query = plain(
                call,
                &namespace,
                args.document("query"),
                args.document("collation"),
            )?;
            query.sort = args.filled("sort");
            query.hint = args.get("hint");
            query.limit = Some(1);
            let around = Around {
                sort: args.filled("sort").map(to_document).transpose()?,
                above: vec![if args.flag("remove") {
                    "DELETE"
                } else {
                    "UPDATE"
                }],
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, executes)
        }
        other => Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            format!("Cannot explain cmd: {other}"),
        )),
    }
}

/// `aggregate` with `explain: true`.
pub(crate) fn aggregate(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let args = Args::of_command(call.command, "aggregate", aggregate::FIELDS)?;
    let target = raw::elements(call.command)
        .next()
        .map_or(RawBsonRef::Null, |(_, value)| value);
    let aggregate = Aggregate::parse(call, target, &args)?;
    explain_aggregate(call, call.command, &aggregate, &args, false)
}

fn explain_aggregate(
    call: &Call<'_>,
    command: &RawDocument,
    aggregate: &Aggregate<'_>,
    args: &Args<'_>,
    executes: bool,
) -> Result<RawDocumentBuf, ServerError> {
    let query = aggregate.query();
    let around = Around {
        sort: query.sort.map(to_document).transpose()?,
        ..Around::default()
    };
    answer(
        call,
        command,
        &aggregate.base,
        args,
        &query,
        &around,
        executes,
    )
}

fn one(mut statements: Vec<&RawDocument>) -> Result<&RawDocument, ServerError> {
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(ServerError::new(
            Code::INVALID_LENGTH,
            "explained write batches must be of size 1",
        )),
    }
}

fn plain<'a>(
    call: &Call<'_>,
    namespace: &Namespace,
    filter: Option<&'a RawDocument>,
    collation: Option<&RawDocument>,
) -> Result<Query<'a>, ServerError> {
    let collection = call.find_collection(namespace);
    Ok(Query {
        filter,
        sort: None,
        hint: None,
        skip: 0,
        limit: None,
        globals: call.globals(collation, None, collection.as_deref())?,
    })
}

fn answer(
    call: &Call<'_>,
    command: &RawDocument,
    namespace: &Namespace,
    args: &Args<'_>,
    query: &Query<'_>,
    around: &Around<'_>,
    executes: bool,
) -> Result<RawDocumentBuf, ServerError> {
    let collection = call.find_collection(namespace);
    let prepared = query
        .prepare(collection.as_deref())
        .map_err(|error| explain_hint(error, namespace, args))?;
    let stages = stages(collection.as_deref(), query, &prepared, around)?;
    let mut planner = doc! {
        "namespace": namespace.to_string(),
        "indexFilterSet": false,
        "parsedQuery": query.filter.map(to_document).transpose()?.unwrap_or_default(),
        "maxIndexedOrSolutionsReached": false,
        "maxIndexedAndSolutionsReached": false,
        "maxScansToExplodeReached": false,
    };
    planner.insert("winningPlan", stages.clone());
    planner.insert("rejectedPlans", Bson::Array(Vec::new()));
    let mut fields = doc! { "explainVersion": "1", "queryPlanner": planner };
    if executes {
        let mut returned = 0_i64;
        let (mut keys, mut docs) = (0, 0);
        let counted = matches!(stages.get_str("stage"), Ok("RECORD_STORE_FAST_COUNT"));
        if counted {
            returned = collection.map_or(0, |all| i64::try_from(all.len()).unwrap_or(i64::MAX));
        } else if let Some(collection) = collection {
            let mut found = prepared.run(collection, call.deadline())?;
            for row in found.by_ref() {
                row?;
                returned += 1;
            }
            (keys, docs) = found.examined();
        }
        // What is counted or changed is not returned.
        let writes = !around.above.is_empty();
        let mut executed = stages;
        executed.insert("nReturned", number(if writes { 0 } else { returned }));
        if around.above == ["COUNT"] {
            executed.insert("nCounted", number(returned));
        }
        fields.insert(
            "executionStats",
            doc! {
                "executionSuccess": true,
                "nReturned": number(if writes { 0 } else { returned }),
                "executionTimeMillis": 0,
                "totalKeysExamined": number(i64::try_from(keys).unwrap_or(i64::MAX)),
                "totalDocsExamined": number(i64::try_from(docs).unwrap_or(i64::MAX)),
                "executionStages": executed,
            },
        );
    }
    let mut explained = to_document(command)?;
    explained.insert("$db", call.database);
    fields.insert("command", explained);
    reply(fields)
}

fn number(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}

fn stage(name: &str, extra: Document, input: Document) -> Document {
    let mut stage = doc! { "stage": name };
    stage.extend(extra);
    stage.insert("inputStage", input);
    stage
}

/// The tree, innermost first.
fn stages(
    collection: Option<&Collection>,
    query: &Query<'_>,
    prepared: &Prepared,
    around: &Around<'_>,
) -> Result<Document, ServerError> {
    let Some(collection) = collection else {
        return Ok(wrap(doc! { "stage": "EOF" }, around));
    };
    let filter = query.filter.filter(|filter| !filter.is_empty());
    if filter.is_none() && around.above == ["COUNT"] && query.hint.is_none() {
        return Ok(doc! { "stage": "RECORD_STORE_FAST_COUNT" });
    }
    let mut tree = source(collection, filter, prepared)?;
    let count = |value: u64| number(i64::try_from(value).unwrap_or(i64::MAX));
    if prepared.sort.is_some() {
        let mut extra = doc! {
            "sortPattern": around.sort.clone().unwrap_or_default(),
            "memLimit": 104_857_600,
        };
        if let Some(limit) = query.limit {
            extra.insert("limitAmount", count(limit.saturating_add(query.skip)));
        }
        extra.insert("type", "simple");
        tree = stage("SORT", extra, tree);
    }
    if query.skip > 0 {
        tree = stage("SKIP", doc! { "skipAmount": count(query.skip) }, tree);
    }
    if let Some(projection) = around.projection {
        let name = if is_simple(projection) {
            "PROJECTION_SIMPLE"
        } else {
            "PROJECTION_DEFAULT"
        };
        tree = stage(name, doc! { "transformBy": to_document(projection)? }, tree);
    }
    if let Some(limit) = query.limit
        && prepared.sort.is_none()
        && around.above.is_empty()
    {
        tree = stage("LIMIT", doc! { "limitAmount": count(limit) }, tree);
    }
    Ok(wrap(tree, around))
}

fn wrap(tree: Document, around: &Around<'_>) -> Document {
    around
        .above
        .iter()
        .fold(tree, |tree, name| stage(name, Document::new(), tree))
}

/// Names of top-level fields only, taken or left out.
fn is_simple(projection: &RawDocument) -> bool {
    raw::elements(projection).all(|(name, value)| {
        !name.contains('.')
            && matches!(
                value,
                RawBsonRef::Boolean(_)
                    | RawBsonRef::Int32(_)
                    | RawBsonRef::Int64(_)
                    | RawBsonRef::Double(_)
            )
    })
}

fn source(
    collection: &Collection,
    filter: Option<&RawDocument>,
    prepared: &Prepared,
) -> Result<Document, ServerError> {
    let plan = &prepared.plan;
    let (name, backwards) = match &plan.access {
        Access::Nothing => return Ok(doc! { "stage": "EOF" }),
        Access::Special(special) => return Ok(doc! { "stage": special.stage() }),
        Access::Records { backwards } => {
            let mut scan = doc! { "stage": "COLLSCAN" };
            if let Some(filter) = filter {
                scan.insert("filter", to_document(filter)?);
            }
            scan.insert("direction", direction(*backwards));
            return Ok(scan);
        }
        Access::Index { .. } if plan.by_id => return Ok(doc! { "stage": "IDHACK" }),
        Access::Index {
            name, backwards, ..
        } => (name, *backwards),
    };
    let Some(index) = collection.index(name) else {
        return Ok(doc! { "stage": "EOF" });
    };
    let spec = &index.spec;
    let mut bounds = Document::new();
    for (path, intervals) in &plan.bounds {
        bounds.insert(path, intervals.clone());
    }
    let scan = doc! {
        "stage": "IXSCAN",
        "keyPattern": spec.key.clone(),
        "indexName": &spec.name,
        "isMultiKey": index.multikey,
        "isUnique": spec.unique,
        "isSparse": spec.sparse,
        "isPartial": spec.partial.is_some(),
        "indexVersion": 2,
        "direction": direction(backwards),
        "indexBounds": bounds,
    };
    let mut extra = Document::new();
    if let Some(filter) = filter {
        extra.insert("filter", to_document(filter)?);
    }
    Ok(stage("FETCH", extra, scan))
}

fn direction(backwards: bool) -> &'static str {
    if backwards { "backward" } else { "forward" }
}
