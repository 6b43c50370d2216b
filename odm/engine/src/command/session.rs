//! `commitTransaction`, `abortTransaction`, and the commands about sessions themselves.

mod names;

use bson::raw::RawDocumentBuf;
use bson::{Uuid, doc};
use odm_language::error::{Code, ServerError};

use crate::command::args::{Field, Kind, field};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::txn::session::{Mode, SessionId, lock};

use names::SessionName;

const FIELDS: &[Field] = &[
    // Only sharded clusters use the token.
    field("recoveryToken", Kind::Object),
];

pub(crate) const COMMIT: Command = Command {
    name: "commitTransaction",
    idl: "commitTransaction",
    fields: FIELDS,
    target: CommandTarget::Database,
    transaction: InTransaction::Ends,
    retryable: false,
    writes: true,
    run: |call| end(call, true),
    explain: None,
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
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: |call| {
        for session in names::sessions(call.command, "endSessions", "endSessionsFromClient")? {
            call.engine.sessions.end(&session.lsid());
        }
        reply(doc! {})
    },
    explain: None,
};

pub(crate) const START_SESSION: Command = Command {
    name: "startSession",
    idl: "startSession",
    run: |call| {
        let session = SessionName::new(call.uuid());
        call.engine.sessions.refresh(&session.lsid(), call.now)?;
        reply(doc! {
            "id": { "id": Uuid::from_bytes(session.id) },
            "timeoutMinutes": TIMEOUT_MINUTES,
        })
    },
    ..END_SESSIONS
};

pub(crate) const REFRESH_SESSIONS: Command = Command {
    name: "refreshSessions",
    idl: "refreshSessions",
    run: |call| {
        let list = "refreshSessionsFromClient";
        for session in names::sessions(call.command, "refreshSessions", list)? {
            call.engine.sessions.refresh(&session.lsid(), call.now)?;
        }
        reply(doc! {})
    },
    ..END_SESSIONS
};

pub(crate) const KILL_SESSIONS: Command = Command {
    name: "killSessions",
    idl: "KillSessionsCmd",
    transaction: InTransaction::Beside,
    run: |call| {
        let named = names::sessions(call.command, "KillSessionsCmd", "killSessions")?;
        if named.iter().any(|session| session.is_child) {
            return Err(child());
        }
        // An empty list means every session of the calling user.
        let all = named.is_empty();
        kill(call, |id| all || named.iter().any(|session| session.is(id)))
    },
    ..END_SESSIONS
};

pub(crate) const KILL_ALL_SESSIONS: Command = Command {
    name: "killAllSessions",
    idl: "KillAllSessionsCmd",
    run: |call| {
        let users = names::users(call.command)?;
        match users.first() {
            // The engine has no users.
            Some((user, database)) => Err(ServerError::new(
                Code::USER_NOT_FOUND,
                format!("Could not find user \"{user}\" for db \"{database}\""),
            )),
            None => kill(call, |_| true),
        }
    },
    ..KILL_SESSIONS
};

pub(crate) const KILL_ALL_SESSIONS_BY_PATTERN: Command = Command {
    name: "killAllSessionsByPattern",
    idl: "KillAllSessionsByPatternCmd",
    run: |call| {
        let patterns = names::patterns(call.command)?;
        if patterns.iter().any(names::Pattern::is_child) {
            return Err(child());
        }
        kill(call, |id| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id))
        })
    },
    ..KILL_SESSIONS
};

/// How long an idle session stays known.
const TIMEOUT_MINUTES: i32 = 30;

fn child() -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, "Cannot kill a child session")
}

/// Aborts the open transactions of sessions and closes their cursors. The sessions keep the statement ids of their
/// retryable writes, so that no write runs twice.
fn kill(
    call: &Invocation<'_>,
    wanted: impl Fn(&SessionId) -> bool,
) -> Result<RawDocumentBuf, ServerError> {
    call.engine.sessions.kill(&wanted);
    call.engine.cursors.close_of(&wanted);
    reply(doc! {})
}

/// Whether the error reports an unknown transaction, which may have been committed long ago.
fn is_unknown(outcome: &Result<(), ServerError>) -> bool {
    matches!(outcome, Err(error) if error.code() == Code::NO_SUCH_TRANSACTION)
}

fn end(call: &mut Invocation<'_>, commit: bool) -> Result<RawDocumentBuf, ServerError> {
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
    let handle = call.engine.sessions.get(session)?;
    let mut state = lock(&handle);
    state.touch(call.now);
    if commit {
        let committed = state.commit(
            &call.engine.sessions,
            &call.engine.catalog,
            session,
            *number,
        );
        call.locked.set(is_unknown(&committed));
        committed?;
    } else {
        let open = state.transaction(session, *number).map(drop);
        call.locked.set(is_unknown(&open));
        open?;
        state.abort(&call.engine.sessions);
    }
    reply(doc! {})
}
