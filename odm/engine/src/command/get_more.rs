//! `getMore` and `killCursors`.

use bson::doc;
use bson::raw::{RawBsonRef, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::Root;
use crate::catalog::namespace::Namespace;
use crate::command::args::{Field, Kind, field, max_time, required, wrong_type};
use crate::command::batch::{catch_up, fill, session_of, split, transaction_of};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::{Page, reply};
use crate::cursor::registry::{Cursor, Tail};
use crate::txn::lsid;

const FIELDS: &[Field] = &[
    required("collection", Kind::Str),
    field("batchSize", Kind::SafeInt),
    field("term", Kind::Unsupported),
    field("lastKnownCommittedOpTime", Kind::Unsupported),
];

pub(crate) const GET_MORE: Command = Command {
    name: "getMore",
    idl: "getMore",
    fields: FIELDS,
    target: CommandTarget::Database,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: false,
    run: get_more,
    explain: None,
};

pub(crate) const KILL_CURSORS: Command = Command {
    name: "killCursors",
    idl: "killCursors",
    fields: &[required("cursors", Kind::Longs)],
    target: CommandTarget::Collection,
    transaction: InTransaction::NotFirst,
    retryable: false,
    writes: false,
    run: kill_cursors,
    explain: None,
};

fn get_more(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let id = match raw::elements(call.command).next() {
        Some((_, RawBsonRef::Int64(id))) => id,
        other => {
            let value = other.map_or(RawBsonRef::Null, |(_, value)| value);
            return Err(wrong_type("getMore.getMore", value, "type 'long'"));
        }
    };
    let namespace = Namespace::new(call.database, call.args.str("collection").unwrap_or(""));
    namespace.check()?;
    let batch_size = call.args.natural("batchSize")?;
    Ok(next(call, id, &namespace, batch_size)?.to_reply(cstr!("nextBatch")))
}

/// The next batch of a cursor.
pub(crate) fn next(
    call: &Invocation<'_>,
    id: i64,
    namespace: &Namespace,
    batch_size: Option<u64>,
) -> Result<Page, ServerError> {
    let batch_size = batch_size.filter(|size| *size > 0);
    let (pin, mut cursor) = call.engine.cursors.pin(id, call.context.hold(), |cursor| {
        check(call, cursor, namespace, id)
    })?;
    let while_running = |error: ServerError| error.within("Executor error during getMore");
    if let Some(uuid) = cursor.collection {
        let base = cursor.base.as_ref().unwrap_or(&cursor.namespace);
        let collection = call
            .find_collection(base)
            .filter(|collection| collection.uuid == uuid);
        match collection {
            None => cursor.results.dropped(gone(&call.root(), base, uuid))?,
            Some(collection) if cursor.tail != Tail::No => {
                cursor.results.resume(collection).map_err(while_running)?;
            }
            Some(_) => {}
        }
    }
    if cursor.limited {
        let idle = call.now.timestamp_millis() - cursor.used;
        cursor.results.postpone(idle.max(0));
    }
    let batch_size = split(call, &cursor, batch_size);
    catch_up(call, &mut cursor, batch_size);
    let (batch, more) = fill(&mut cursor, batch_size).map_err(while_running)?;
    if let (Some(profile), Some(tally)) = (call.profile, &cursor.tally) {
        profile.tally.take_from(tally);
    }
    let token = cursor
        .results
        .resume_token(batch.last(), cursor.held.is_some());
    let (namespace, time) = (cursor.namespace.clone(), cursor.time);
    let id = if more {
        cursor.used = call.now.timestamp_millis();
        pin.keep(cursor)?;
        id
    } else {
        0
    };
    Ok(batch.of(id, namespace).at(time).with_token(token))
}

/// Refuses a cursor of another collection, session or transaction, and a `maxTimeMS` for a cursor that does not await
/// data.
fn check(
    call: &Invocation<'_>,
    cursor: &Cursor,
    namespace: &Namespace,
    id: i64,
) -> Result<(), ServerError> {
    if cursor.namespace != *namespace {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            format!(
                "Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {}",
                cursor.namespace
            ),
        ));
    }
    if max_time(call.command).is_some() && cursor.tail != Tail::AwaitData {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "cannot set maxTimeMS on getMore command for a non-awaitData cursor",
        ));
    }
    check_session(call, cursor, id)
}

/// Refuses a cursor of another session or transaction.
fn check_session(call: &Invocation<'_>, cursor: &Cursor, id: i64) -> Result<(), ServerError> {
    let refuse = |code, which: String| {
        Err(ServerError::new(
            Code::location(code),
            format!("Cannot run getMore on cursor {id}, which was {which}"),
        ))
    };
    let given = session_of(call);
    let shown = |lsid: &[u8]| lsid::show_whole(lsid);
    match (&cursor.session, &given) {
        (None, Some(given)) => {
            let which = format!("not created in a session, in session {}", shown(given));
            return refuse(50736, which);
        }
        (Some(own), None) => {
            let which = format!("created in session {}, without an lsid", shown(own));
            return refuse(50737, which);
        }
        (Some(own), Some(given)) if lsid::id_of(own) != lsid::id_of(given) => {
            let which = format!(
                "created in session {}, in session {}",
                shown(own),
                shown(given)
            );
            return refuse(50738, which);
        }
        _ => {}
    }
    let given = transaction_of(&call.mode).map(|(_, number)| number);
    let own = cursor.transaction.as_ref().map(|(_, number)| *number);
    match (own, given) {
        (None, Some(given)) => refuse(
            50739,
            format!("not created in a transaction, in transaction {given}"),
        ),
        (Some(own), None) => refuse(
            50740,
            format!("created in transaction {own}, without a txnNumber"),
        ),
        (Some(own), Some(given)) if own != given => refuse(
            50741,
            format!("created in transaction {own}, in transaction {given}"),
        ),
        _ => Ok(()),
    }
}

/// The error for a cursor whose collection was dropped or renamed.
fn gone(root: &Root, namespace: &Namespace, uuid: [u8; 16]) -> ServerError {
    let now = root
        .database(&namespace.database)
        .find(|collection| collection.uuid == uuid);
    let what = match now {
        None => "collection dropped.".to_owned(),
        Some(now) => format!(
            "collection renamed from '{namespace}' to '{}'.",
            now.namespace
        ),
    };
    ServerError::new(
        Code::QUERY_PLAN_KILLED,
        format!("{what} UUID {}", bson::Uuid::from_bytes(uuid)),
    )
}

fn kill_cursors(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let array = call.args.array_or_empty("cursors");
    // As on mongod, the cursors may belong to any collection.
    let (killed, unknown): (Vec<i64>, Vec<i64>) = raw::values(array)
        .filter_map(RawBsonRef::as_i64)
        .partition(|id| call.engine.cursors.kill(*id));
    reply(doc! {
        "cursorsKilled": killed,
        "cursorsNotFound": unknown,
        "cursorsAlive": [],
        "cursorsUnknown": [],
    })
}
