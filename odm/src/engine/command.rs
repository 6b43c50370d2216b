//! The door: a command document in, the reply document out.
//!
//! [`table`] lists the commands; each has its file. What a command shares with the others (its
//! fields' check, its database, the session) is prepared here.

mod aggregate;
pub(crate) mod args;
pub(crate) mod call;
mod change_stream;
mod coll_mod;
mod collections;
mod concern;
mod convert;
mod count;
mod create;
mod create_indexes;
mod databases;
mod delete;
mod distinct;
mod drop_indexes;
mod explain;
mod find;
mod find_and_modify;
pub(crate) mod fork;
mod get_more;
mod hello;
mod insert;
mod list_indexes;
mod modify;
mod pictured;
pub(crate) mod reply;
pub(crate) mod request;
mod retry;
mod session;
mod source;
mod statistics;
mod stats;
mod table;
#[cfg(test)]
mod tests;
mod ttl;
mod update;
mod validate;
mod view;

use std::sync::atomic::{AtomicI64, Ordering};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};

use crate::engine::catalog::Catalog;
use crate::engine::catalog::namespace::Namespace;
use crate::engine::context::Context;
use crate::engine::cursor::open::Cursors;
use crate::engine::refusal::{self, Absent};
use crate::engine::txn::TRANSIENT;
use crate::engine::txn::session::{Mode, Sessions, lock};
use crate::engine::txn::snapshot::Snapshots;
use crate::error::{Code, ServerError};
use crate::value::raw;

use args::Args;
use call::Call;
use table::{Command, InTransaction, Target};

pub(crate) use args::GENERIC as COMMON_FIELDS;
pub(crate) use table::all as known_commands;

/// The fields of documents in commands, by the names that messages have for them.
pub(crate) fn known_statements() -> [(&'static str, &'static [args::Field]); 4] {
    [
        ("$changeStream", change_stream::FIELDS),
        ("collMod.index", coll_mod::INDEX_FIELDS),
        ("delete.deletes", delete::STATEMENT),
        ("update.updates", update::STATEMENT),
    ]
}

/// Whether a server has the command, and the engine has not.
#[cfg(feature = "server")]
pub(crate) fn is_absent(name: &str) -> bool {
    table::find(name).is_none()
}

/// How often the engine looks after what expires, in milliseconds, as the server's TTL monitor does.
const TICK: i64 = 60_000;

/// The in-memory engine. One value is one server; sessions and threads share it.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    pub(crate) catalog: Catalog,
    pub(crate) sessions: Sessions,
    pub(crate) cursors: Cursors,
    pub(crate) snapshots: Snapshots,
    /// When expired documents, cursors and sessions were last looked for.
    ticked: AtomicI64,
}

impl Engine {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Answers one command as a driver sends it in an `OP_MSG`: its name first, then its fields, with
    /// `$db` and the session's fields among them. A failure is a reply too (`ok: 0`).
    pub(crate) fn run(&self, context: &Context, command: &RawDocument) -> RawDocumentBuf {
        let clock = &self.catalog.clock;
        let before = clock.now();
        let outcome = self.dispatch(context, command);
        // What is logged has had its time, which is the one that the reply is to tell.
        let has_time = self.catalog.changes.is_on() && clock.now() != before;
        if writes(command) && !has_time {
            clock.tick(context.now());
        }
        match outcome {
            Ok(reply) => match concern::unmet(command) {
                Some(error) => reply::with(&reply, cstr!("writeConcernError"), &error),
                None => reply,
            },
            Err(error) => reply::failed(&error),
        }
    }

    fn dispatch(
        &self,
        context: &Context,
        command: &RawDocument,
    ) -> Result<RawDocumentBuf, ServerError> {
        let command = raw::validate(command.as_bytes())?;
        let Some((name, target)) = raw::elements(command).next() else {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "the command is empty",
            ));
        };
        let Some(row) = table::find(name) else {
            if let Some(absent) = refusal::command(name) {
                let because = match absent {
                    Absent::Planned => String::new(),
                    Absent::Refused(reason) => format!(": {reason}"),
                };
                return Err(args::unsupported(&format!("the command '{name}'{because}")));
            }
            return Err(ServerError::new(
                Code::COMMAND_NOT_FOUND,
                format!("no such command: '{name}'"),
            ));
        };
        let database = database(command)?;
        let mode = match row.transaction {
            InTransaction::Beside => Mode::Plain,
            _ => Mode::of(command)?,
        };
        check_mode(row, &mode, command, database)?;
        concern::check(row, command, &mode)?;
        let now = context.now();
        self.tick(now.timestamp_millis());
        let args = Args::of_command(command, row.idl, row.fields)?;
        let collection = match row.target {
            Target::Collection => collection(target)?,
            Target::Database => "",
        };
        let namespace = Namespace::new(database, collection);
        let mut call = Call {
            engine: self,
            context,
            command,
            database,
            namespace: &namespace,
            args,
            mode: mode.clone(),
            transaction: None,
            snapshot: None,
            statements: None,
            now,
        };
        if row.target == Target::Collection {
            call.namespace.check()?;
        }
        if let Some(moment) = concern::snapshot(command, &mode, &self.catalog.clock)? {
            let snapshot = self
                .snapshots
                .at(moment, &self.catalog.clock, &self.catalog, now)?;
            let snapshot = call.snapshot.insert(snapshot);
            snapshot.check(&self.catalog, call.namespace)?;
        }
        match mode {
            Mode::Plain => (row.run)(&mut call),
            Mode::Retryable { session, number } => {
                let handle = self.sessions.get(&session);
                let mut state = lock(&handle);
                state.touch(now);
                call.statements = Some(state.retryable(&self.sessions, &session, number)?);
                (row.run)(&mut call)
            }
            // These two read the session themselves.
            Mode::Transaction { .. } if row.transaction == InTransaction::Ends => {
                (row.run)(&mut call)
            }
            Mode::Transaction {
                session,
                number,
                start,
            } => {
                let handle = self.sessions.get(&session);
                let mut state = lock(&handle);
                state.touch(now);
                if start {
                    state.start(&self.sessions, &self.catalog, &session, number, now)?;
                }
                let transaction = state.transaction(number)?;
                if transaction.is_expired(now) {
                    state.abort(&self.sessions);
                }
                call.transaction = Some(state.transaction(number)?);
                let outcome = (row.run)(&mut call);
                // After any failure the transaction is over, as on the server.
                match outcome {
                    Ok(reply) => {
                        if raw::get(&reply, "writeErrors").is_some() {
                            state.abort(&self.sessions);
                        }
                        Ok(reply)
                    }
                    Err(error) => {
                        state.abort(&self.sessions);
                        Err(label(error))
                    }
                }
            }
        }
    }

    /// Now and then: what has expired goes.
    pub(crate) fn tick(&self, now: i64) {
        if self.catalog.changes.is_on() {
            self.catalog
                .changes
                .set_now(bson::DateTime::from_millis(now));
        }
        if self.sessions.has_open() {
            self.sessions.expire(bson::DateTime::from_millis(now));
        }
        let last = self.ticked.load(Ordering::Relaxed);
        if last == 0 {
            self.ticked.store(now, Ordering::Relaxed);
            return;
        }
        if now.saturating_sub(last).abs() < TICK {
            return;
        }
        // One of several threads does it.
        if self
            .ticked
            .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
        {
            let now = bson::DateTime::from_millis(now);
            self.sessions.expire(now);
            self.cursors.expire(now);
            self.snapshots.expire(now);
            self.catalog.changes.trim();
            ttl::expire(&self.catalog, now);
        }
    }
}

/// Whether the command may have written.
fn writes(command: &RawDocument) -> bool {
    let name = raw::elements(command).next().map_or("", |(name, _)| name);
    table::find(name).is_some_and(|row| row.writes)
}

/// Inside a transaction, these errors mean: try the whole transaction again.
fn label(error: ServerError) -> ServerError {
    let transient = matches!(
        error.code(),
        Code::WRITE_CONFLICT | Code::SNAPSHOT_UNAVAILABLE | Code::NO_SUCH_TRANSACTION
    );
    if transient && !error.labels().iter().any(|label| label == TRANSIENT) {
        error.with_label(TRANSIENT)
    } else {
        error
    }
}

fn database(command: &RawDocument) -> Result<&str, ServerError> {
    match raw::get(command, "$db") {
        Some(RawBsonRef::String(name)) => {
            Namespace::check_database(name)?;
            Ok(name)
        }
        Some(_) => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "$db must be a string",
        )),
        None => Err(ServerError::new(
            Code::location(40571),
            "OP_MSG requests require a $db argument",
        )),
    }
}

fn collection(target: RawBsonRef<'_>) -> Result<&str, ServerError> {
    match target {
        RawBsonRef::String(collection) => Ok(collection),
        other => Err(ServerError::new(
            Code::BAD_VALUE,
            format!(
                "collection name has invalid type {}",
                crate::value::kind::alias(other.element_type())
            ),
        )),
    }
}

/// Refuses what may not run in a transaction, or not be retried.
fn check_mode(
    row: &Command,
    mode: &Mode,
    command: &RawDocument,
    database: &str,
) -> Result<(), ServerError> {
    let refuse = |message: String| {
        Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            message,
        ))
    };
    match mode {
        Mode::Plain => Ok(()),
        Mode::Retryable { .. } if row.retryable => Ok(()),
        Mode::Retryable { .. } => Err(ServerError::new(
            Code::NOT_A_RETRYABLE_WRITE_COMMAND,
            format!(
                "txnNumber may only be provided for multi-document transactions and retryable write commands. \
                 autocommit:false was not provided, and {} is not a retryable write command.",
                row.name
            ),
        )),
        Mode::Transaction { start, .. } => match row.transaction {
            InTransaction::Never => {
                refuse("This command is not supported in transactions".to_owned())
            }
            InTransaction::Refused if row.name == "count" => refuse(
                "Cannot run 'count' in a multi-document transaction. Please see \
                 http://dochub.mongodb.org/core/transaction-count for a recommended alternative."
                    .to_owned(),
            ),
            InTransaction::Refused => refuse(format!(
                "Cannot run '{}' in a multi-document transaction.",
                row.name
            )),
            InTransaction::Ends if *start => refuse(format!(
                "Cannot start a transaction with a {}",
                row.name.trim_end_matches("Transaction")
            )),
            InTransaction::Ends | InTransaction::Beside => Ok(()),
            InTransaction::NotFirst if *start => refuse(format!(
                "Cannot run {} as the first operation in a multi-document transaction.",
                row.name
            )),
            InTransaction::Allowed | InTransaction::NotFirst => {
                let namespace = || match raw::elements(command).next() {
                    Some((_, RawBsonRef::String(name))) => name,
                    _ => "",
                };
                match database {
                    "config" => refuse(
                        "Cannot run command against the config database in a transaction."
                            .to_owned(),
                    ),
                    "local" => refuse(
                        "Cannot run command against the 'local' database in a transaction."
                            .to_owned(),
                    ),
                    _ if namespace().starts_with("system.profile") => refuse(format!(
                        "Cannot run command against the '{database}.{}' collection in a transaction.",
                        namespace()
                    )),
                    _ => Ok(()),
                }
            }
        },
    }
}
