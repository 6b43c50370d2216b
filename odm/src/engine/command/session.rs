//! `commitTransaction`, `abortTransaction`, `endSessions`.

use bson::doc;
use bson::raw::{RawBsonRef, RawDocumentBuf};

use crate::engine::command::args::{Field, Kind, field, wrong_type};
use crate::engine::command::call::Call;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::txn::session::{Mode, lock};
use crate::error::{Code, ServerError};
use crate::value::raw;

const FIELDS: &[Field] = &[
    // What these say is for a cluster of several nodes.
    field("recoveryToken", Kind::Object),
];

pub(crate) const COMMIT: Command = Command {
    name: "commitTransaction",
    idl: "commitTransaction",
    fields: FIELDS,
    target: Target::Database,
    transaction: InTransaction::Ends,
    retryable: false,
    writes: true,
    run: |call| end(call, true),
};

pub(crate) const ABORT: Command = Command {
    name: "abortTransaction",
    idl: "abortTransaction",
    run: |call| end(call, false),
    ..COMMIT
};

pub(crate) const END_SESSIONS: Command = Command {
    name: "endSessions",
    idl: "endSessions",
    fields: &[],
    target: Target::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: end_sessions,
};

fn end(call: &mut Call<'_>, commit: bool) -> Result<RawDocumentBuf, ServerError> {
    let name = if commit {
        "commitTransaction"
    } else {
        "abortTransaction"
    };
    if call.database != "admin" {
        return Err(ServerError::new(
            Code::UNAUTHORIZED,
            format!("{name} may only be run against the admin database."),
        ));
    }
    let Mode::Transaction {
        session, number, ..
    } = &call.mode
    else {
        return Err(ServerError::new(
            Code::COMMAND_FAILED,
            format!("{name} must be run within a transaction"),
        ));
    };
    let handle = call.engine.sessions.get(session);
    let mut state = lock(&handle);
    state.touch(call.now);
    if commit {
        state.commit(&call.engine.sessions, &call.engine.catalog, *number)?;
    } else {
        state.transaction(*number)?;
        state.abort(&call.engine.sessions);
    }
    reply(doc! {})
}

fn end_sessions(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let wrong = |field: &str, found: RawBsonRef<'_>, expected: &str| {
        let (field, expected) = (format!("endSessions.{field}"), format!("type '{expected}'"));
        Err(wrong_type(&field, found, &expected))
    };
    let ids = match raw::elements(call.command).next() {
        Some((_, RawBsonRef::Array(ids))) => ids,
        Some((_, other)) => return wrong("endSessions", other, "array"),
        None => return reply(doc! {}),
    };
    let mut sessions = Vec::new();
    for (index, id) in raw::values(ids).enumerate() {
        let RawBsonRef::Document(session) = id else {
            return wrong(&format!("endSessionsFromClient.{index}"), id, "object");
        };
        match raw::get(session, "id") {
            Some(RawBsonRef::Binary(_)) | None => sessions.push(session.as_bytes().to_vec()),
            Some(other) => return wrong("endSessionsFromClient.id", other, "binData"),
        }
    }
    for session in sessions {
        call.engine.sessions.end(&session);
    }
    reply(doc! {})
}
