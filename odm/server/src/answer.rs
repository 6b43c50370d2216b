//! Answers commands: the server answers those about itself, and the engine all others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::{Binary, Bson, rawdoc, spec::BinarySubtype};
use odm_engine::args::max_time;
use odm_engine::{AWAIT, Backoff, is_empty_batch};
use odm_engine::{Context, interrupted};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::client::Client;
use crate::cluster_time;
use crate::command::{self, Call, Started};
use crate::fail_point::{self, Candidate, Strike};
use crate::state::{LOOK_UP, ServerState};
use crate::wire::MAX_MESSAGE;

/// The answer to a command.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) document: RawDocumentBuf,
    /// The command can be answered again (exhaust): an open cursor, or a client that monitors the server.
    pub(crate) continues: bool,
    /// The connection is closed without an answer.
    pub(crate) hang_up: bool,
}

/// The largest reply. The rest of a message is for its header and the cluster time.
const LARGEST: usize = MAX_MESSAGE - 1024;

/// Whether a reply's error means that the server is no longer the primary. Without a `topologyVersion`, such a reply
/// makes clients discard the server's description and wait for the next heartbeat.
fn is_not_primary(reply: &RawDocument) -> bool {
    let is_meant = |reply: &RawDocument| {
        let code = raw::get(reply, "code").and_then(RawBsonRef::as_i32);
        matches!(code, Some(189 | 10107 | 11602 | 13435 | 13436))
    };
    let error = raw::get(reply, "writeConcernError").and_then(RawBsonRef::as_document);
    is_meant(reply) || error.is_some_and(is_meant)
}

/// Answers a command, of which only the document length has been checked.
pub(crate) fn answer(state: &ServerState, client: &mut Client, command: &RawDocument) -> Answer {
    let struck =
        raw::validate(command.as_bytes()).and_then(|command| strike(state, client, command));
    let strike = match struck {
        Ok(strike) => strike.unwrap_or_default(),
        Err(error) => Strike {
            error: Some(error),
            ..Strike::default()
        },
    };
    if let Some(time) = strike.block {
        state.pause(time, &client.killed);
    }
    let lost = Arc::new(AtomicBool::new(false));
    let outcome = match strike.error {
        Some(error) => Err(error),
        None if client.is_killed() => Err(interrupted()),
        None if strike.close => Ok(RawDocumentBuf::new()),
        None => run(state, client, command, &lost),
    };
    let mut document = match outcome {
        Ok(reply) => reply,
        Err(error) => failed(&error),
    };
    if let Some(error) = &strike.write_concern_error {
        document = odm_engine::reply::with(&document, cstr!("writeConcernError"), error);
        if !strike.labels.is_empty() {
            let labels: RawArrayBuf = strike.labels.iter().filter_map(Bson::as_str).collect();
            document.append(cstr!("errorLabels"), labels);
        }
    }
    if document.as_bytes().len() > LARGEST {
        document = failed(&ServerError::new(
            Code::BSON_OBJECT_TOO_LARGE,
            format!(
                "the reply has {} bytes, more than the {MAX_MESSAGE} of a message",
                document.as_bytes().len()
            ),
        ));
    }
    if is_not_primary(&document) {
        document.append(cstr!("topologyVersion"), command::topology_version(state));
    }
    Answer {
        continues: continues(command, &document),
        document: timed(state, document),
        hang_up: strike.close || lost.load(Ordering::Relaxed),
    }
}

/// The effect of the fail points on the command.
fn strike(
    state: &ServerState,
    client: &Client,
    command: &RawDocument,
) -> Result<Option<Strike>, ServerError> {
    if !state.options.test_commands {
        return Ok(None);
    }
    let Some((name, target)) = raw::elements(command).next() else {
        return Ok(None);
    };
    let text = |name: &str| raw::get(command, name).and_then(RawBsonRef::as_str);
    let collection = match target {
        RawBsonRef::String(collection) => collection,
        _ => text("collection").unwrap_or_default(),
    };
    // The `hello` that brings the name is a candidate, too.
    let greets = matches!(name, "hello" | "isMaster" | "ismaster");
    let brought =
        (raw::get(command, "client").filter(|_| greets)).and_then(RawBsonRef::as_document);
    let metadata = client.metadata.as_deref().or(brought);
    let application = metadata.and_then(|client| {
        raw::get(raw::get(client, "application")?.as_document()?, "name")?.as_str()
    });
    let ends = matches!(name, "commitTransaction" | "abortTransaction");
    let in_transaction = raw::get(command, "autocommit").is_some();
    let target = Candidate {
        command: name,
        namespace: &format!("{}.{collection}", text("$db").unwrap_or_default()),
        application,
        is_retryable: raw::get(command, "txnNumber").is_some() && (ends || !in_transaction),
        in_transaction: in_transaction && !ends,
        ends_transaction: ends,
        opens_stream: opens_stream(command),
        connection: client.id,
    };
    let random = || state.service.random_fraction();
    let strike = state.fail_points.command.strike(target, random)?;
    if strike.as_ref().is_some_and(Strike::is_final) {
        return Ok(strike);
    }
    // The time of a `getMore` is that of its cursor.
    let is_limited = name != "getMore" && max_time(command).is_some();
    if is_limited && state.fail_points.time_out.reach(random).is_some() {
        return Err(ServerError::new(
            Code::MAX_TIME_MS_EXPIRED,
            "operation exceeded time limit",
        ));
    }
    Ok(strike)
}

/// Whether a command opens a change stream.
fn opens_stream(command: &RawDocument) -> bool {
    let Some(("aggregate", _)) = raw::elements(command).next() else {
        return false;
    };
    let pipeline = raw::get(command, "pipeline").and_then(RawBsonRef::as_array);
    let first = pipeline.and_then(|stages| raw::values(stages).next()?.as_document());
    first.is_some_and(|stage| raw::get(stage, "$changeStream").is_some())
}

/// The context of a command whose retryable writes meet a fail point before they are published. `lost` becomes true if
/// the connection is to be closed without the reply.
fn gated(state: &ServerState, context: &Context, lost: &Arc<AtomicBool>) -> Context {
    if !state.options.test_commands {
        return context.clone();
    }
    let fail_points = Arc::clone(&state.fail_points);
    let random = state.service.random_fraction();
    let lost = Arc::clone(lost);
    context.clone().gated(move || {
        let Some(data) = fail_points.write.reach(|| random) else {
            return Ok(());
        };
        if fail_point::flag_or(&data, "closeConnection", true) {
            lost.store(true, Ordering::Relaxed);
        }
        let code = fail_point::number(&data, "failBeforeCommitExceptionCode")
            .and_then(|code| i32::try_from(code).ok());
        let Some(code) = code else { return Ok(()) };
        Err(fail_point::retried(ServerError::new(
            Code::from(code),
            "Failing write due to failpoint. The write must not be reflected.",
        )))
    })
}

/// Fails a `getMore` and closes its cursor, if a fail point is set and the cursor exists.
fn strike_cursor(state: &ServerState, command: &RawDocument) -> Result<(), ServerError> {
    let (Some((_, RawBsonRef::Int64(id))), Some(RawBsonRef::String(collection))) = (
        raw::elements(command).next(),
        raw::get(command, "collection"),
    ) else {
        return Ok(());
    };
    if !state.options.test_commands {
        return Ok(());
    }
    let Some(cursor) = state.service.cursor(id) else {
        return Ok(());
    };
    let random = || state.service.random_fraction();
    let error = if let Some(data) = state.fail_points.get_more.reach(random) {
        let code = fail_point::number(&data, "errorCode").and_then(|code| i32::try_from(code).ok());
        let error = ServerError::new(
            code.map_or(Code::INTERNAL_ERROR, Code::from),
            "Hit the 'failGetMoreAfterCursorCheckout' failpoint",
        );
        if cursor.is_change_stream {
            fail_point::streamed(error)
        } else {
            error
        }
    } else if cursor.is_limited && state.fail_points.time_out.reach(random).is_some() {
        ServerError::new(Code::MAX_TIME_MS_EXPIRED, "operation exceeded time limit")
    } else {
        return Ok(());
    };
    let database = raw::get(command, "$db").and_then(RawBsonRef::as_str);
    let closed = state.service.try_run(&rawdoc! {
        "killCursors": collection, "cursors": [id], "$db": database.unwrap_or_default(),
    })?;
    let killed = raw::get(&closed, "cursorsKilled").and_then(RawBsonRef::as_array);
    if killed.is_none_or(bson::RawArray::is_empty) {
        return Ok(());
    }
    Err(error)
}

fn run(
    state: &ServerState,
    client: &mut Client,
    command: &RawDocument,
    lost: &Arc<AtomicBool>,
) -> Result<RawDocumentBuf, ServerError> {
    let name = raw::elements(command).next().map_or("", |(name, _)| name);
    let row = command::find(name);
    let is_known = row.is_some() || !odm_engine::is_absent(name, state.service.context().version());
    let is_open = row.map_or_else(|| command::is_open(name), |row| row.is_open);
    if is_known && !is_open && !state.options.users.is_empty() && client.user.is_none() {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            format!("command {name} requires authentication"),
        ));
    }
    // Unauthenticated clients may not advance the cluster time.
    if state.options.users.is_empty() || client.user.is_some() {
        cluster_time::hear(state, command)?;
    }
    if is_known && raw::get(command, "help") == Some(RawBsonRef::Boolean(true)) {
        return command::help(name);
    }
    if let Some(row) = row {
        let mut call = Call {
            state,
            client,
            command,
            name,
        };
        let reply = command::reply(row.answer(&mut call)?);
        // Idle clients only send heartbeats, so these also run the expiry.
        state.service.tick();
        return reply;
    }
    if !is_known {
        return Err(ServerError::new(
            Code::COMMAND_NOT_FOUND,
            format!("no such command: '{name}'"),
        ));
    }
    let may_open = matches!(
        name,
        "find" | "aggregate" | "listCollections" | "listIndexes"
    );
    if may_open && state.service.open_cursors() >= state.options.max_cursors {
        return Err(ServerError::new(
            Code::EXCEEDED_MEMORY_LIMIT,
            format!(
                "there are {} open cursors, and no more are kept: read them to their ends or kill them",
                state.options.max_cursors
            ),
        ));
    }
    let mut call = Call {
        state,
        client,
        command,
        name,
    };
    Ok(match command::start(&mut call)? {
        Some(Started { documents, command }) => {
            let context = client.context.clone().with_documents(documents);
            wait(state, client, &context, &command)
        }
        None if name == "getMore" => {
            strike_cursor(state, command)?;
            await_data(state, client, command)
        }
        None if raw::get(command, "txnNumber").is_some() => {
            wait(state, client, &gated(state, &client.context, lost), command)
        }
        None => wait(state, client, &client.context, command),
    })
}

/// Runs a `getMore` in the engine. An awaiting cursor without documents waits for new ones.
fn await_data(state: &ServerState, client: &Client, command: &RawDocument) -> RawDocumentBuf {
    let began = Instant::now();
    let end = began + max_time(command).unwrap_or(AWAIT);
    let mut seen = state.service.changes_seen();
    let mut reply = wait(state, client, &client.context, command);
    if !is_empty_batch(&reply) {
        return reply;
    }
    let id = raw::elements(command)
        .next()
        .and_then(|(_, id)| id.as_i64());
    let Some((hold, interest)) = id.and_then(|id| state.service.hold(id)) else {
        return reply;
    };
    let context = client.context.clone().holding(hold.key());
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || state.is_stopping() {
            return match hold.end() {
                Ok(()) => reply,
                Err(error) => failed(&error),
            };
        }
        if client.is_killed() {
            return failed(&hold.interrupt());
        }
        state
            .service
            .wait_for_changes(interest.clone(), seen, left.min(LOOK_UP));
        if began.elapsed() >= LOOK_UP && state.is_gone(client.id) {
            return reply;
        }
        seen = state.service.changes_seen();
        reply = state.service.run_in(&context, command);
        if !is_empty_batch(&reply) {
            return reply;
        }
    }
}

/// Runs a command in the engine. If an open transaction has locked what it writes, the command waits, as on mongod.
fn wait(
    state: &ServerState,
    client: &Client,
    context: &Context,
    command: &RawDocument,
) -> RawDocumentBuf {
    let mut patience: Option<Backoff> = None;
    loop {
        let reply = state.service.run_in(context, command);
        let code = raw::get(&reply, "code").and_then(RawBsonRef::as_i32);
        if code != Some(Code::WRITE_CONFLICT.number()) || raw::get(command, "autocommit").is_some()
        {
            return reply;
        }
        let message = raw::get(&reply, "errmsg").and_then(RawBsonRef::as_str);
        let conflict = ServerError::new(Code::WRITE_CONFLICT, message.unwrap_or_default());
        let patience = patience.get_or_insert_with(|| Backoff::new(max_time(command)));
        match patience.pause(conflict) {
            Ok(pause) => {
                if state.pause(pause, &client.killed) {
                    return if client.is_killed() {
                        failed(&interrupted())
                    } else {
                        reply
                    };
                }
            }
            Err(error) => return failed(&error),
        }
    }
}

/// Whether a client that allows exhaust replies gets another one.
fn continues(command: &RawDocument, reply: &RawDocument) -> bool {
    let name = raw::elements(command).next().map_or("", |(name, _)| name);
    match name {
        "getMore" => {
            let cursor = raw::get(reply, "cursor").and_then(RawBsonRef::as_document);
            let id = cursor.and_then(|cursor| raw::get(cursor, "id")?.as_i64());
            id.is_some_and(|id| id != 0)
        }
        "hello" | "isMaster" | "ismaster" => {
            raw::get(command, "topologyVersion").is_some()
                && raw::get(reply, "topologyVersion").is_some()
        }
        _ => false,
    }
}

/// The reply of a command that failed.
pub(crate) fn failed(error: &ServerError) -> RawDocumentBuf {
    odm_engine::reply::failed(error)
}

/// Adds the cluster time of the last write, which clients need for causal consistency.
fn timed(state: &ServerState, mut reply: RawDocumentBuf) -> RawDocumentBuf {
    let now = state.service.operation_time();
    let signature = rawdoc! {
        "hash": Binary { subtype: BinarySubtype::Generic, bytes: vec![0; 20] },
        "keyId": 0_i64,
    };
    reply.append(
        cstr!("$clusterTime"),
        rawdoc! { "clusterTime": now, "signature": signature },
    );
    reply.append(cstr!("operationTime"), now);
    reply
}
