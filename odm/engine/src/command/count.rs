//! `count`.

use bson::doc;
use bson::raw::{RawBson, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::integer;
use odm_language::value::number::Number;
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::args::{Args, Field, Kind, field, whole};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::{Goal, OuterStages};
use crate::command::compat::explain::{aggregation, report};
use crate::command::invocation::Invocation;

use crate::command::compat::canonical_query::explain_hint;
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::reply::{int, reply};
use crate::command::view;
use crate::cursor::query::{Query, QueryOutput};

pub(crate) const FIELDS: &[Field] = &[
    field("query", Kind::Object),
    field("limit", Kind::Any),
    field("skip", Kind::SafeInt),
    field("hint", Kind::Any),
    field("collation", Kind::Object),
    field("$queryOptions", Kind::Object),
    field("fields", Kind::Any),
];

pub(crate) const COUNT: Command = Command {
    name: "count",
    idl: "count",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: count,
    explain: Some(explain),
};

/// The query of a `count`. A negative limit means the same as a positive one.
pub(crate) fn query<'a>(
    call: &Invocation<'_>,
    namespace: &Namespace,
    args: &Args<'a>,
) -> Result<Query<'a>, ServerError> {
    let limit = match args.get("limit") {
        None => None,
        Some(value) if Number::from_raw(value).is_none() => {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "limit value is not a valid number",
            ));
        }
        Some(value) => Some(
            integer("limit", value).map_err(|why| ServerError::new(Code::FAILED_TO_PARSE, why))?,
        ),
    };
    if limit == Some(i64::MIN) {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "limit value for count cannot be min long",
        ));
    }
    let hint = args.hint()?;
    let collection = call.find_collection(namespace);
    Ok(Query {
        filter: args.document("query"),
        sort: None,
        hint,
        skip: args.natural("skip")?.unwrap_or(0),
        limit: limit.map(i64::unsigned_abs).filter(|limit| *limit > 0),
        globals: call.globals(args.document("collation"), None, collection.as_deref())?,
        shape: QueryOutput {
            counts: true,
            ..QueryOutput::default()
        },
    })
}

fn count_view(
    call: &mut Invocation<'_>,
    namespace: Namespace,
    query: &Query<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    query.prepare(None)?;
    let collation = call.args.document("collation");
    let counted = RawBson::String("n".to_owned());
    let aggregate = view::query(
        call,
        namespace,
        query,
        collation,
        Some((cstr!("$count"), counted)),
    )?;
    let documents = aggregate.run(call)?;
    let n = documents
        .first()
        .and_then(|counted| raw::get(counted.document(), "n"))
        .and_then(whole)
        .unwrap_or(0);
    // mongod replies with an integer `ok` to a `count` that runs as a pipeline.
    let reply = doc! { "n": int(n), "ok": 1 };
    RawDocumentBuf::try_from(&reply)
        .map_err(|e| ServerError::new(Code::INTERNAL_ERROR, e.to_string()))
}

fn count(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_read()?;
    let query = query(call, &namespace, &call.args)?;
    if call.find_view(&namespace).is_some() {
        return count_view(call, namespace, &query);
    }
    let (skip, limit) = (query.skip, query.limit);
    let collection = call.find_collection(&namespace);
    let prepared = query
        .prepare(collection.as_deref())
        .map_err(|error| explain_hint(error, &namespace, &call.args))?;
    let Some(collection) = collection else {
        call.name_plan("EOF");
        return reply(doc! { "n": 0 });
    };
    let n = if prepared.matcher.is_none() && query.hint.is_none() {
        call.name_plan("RECORD_STORE_FAST_COUNT");
        let all = u64::try_from(collection.len()).unwrap_or(u64::MAX);
        let rest = all.saturating_sub(skip);
        limit.map_or(rest, |limit| rest.min(limit))
    } else {
        let mut n = 0;
        let most = limit.map_or(u64::MAX, |limit| limit.saturating_add(skip));
        let mut found = prepared.run(collection, call.deadline())?;
        while n < most
            && let Some(row) = found.next()
        {
            row?;
            n += 1;
        }
        n.saturating_sub(skip)
    };
    reply(doc! { "n": int(i64::try_from(n).unwrap_or(i64::MAX)) })
}

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    let query = query(call, namespace, args)?;
    if call.find_view(namespace).is_some() {
        let collation = args.document("collation");
        let aggregate = view::query(call, namespace.clone(), &query, collation, None)?;
        return aggregation::report(call, explained, &aggregate);
    }
    let around = OuterStages {
        goal: Goal::Count {
            skip: query.skip,
            limit: query.limit,
        },
        ..OuterStages::default()
    };
    report::answer(call, explained, namespace, &query, &around)
}
