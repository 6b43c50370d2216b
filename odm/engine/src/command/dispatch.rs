//! Looks up the command that a document names, does the work that all commands share (checks its fields, database and
//! session), and runs it.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::refusal::{self, Absent};
use odm_language::value::raw;
use odm_language::version::ServerVersion;

use crate::catalog::namespace::Namespace;
use crate::command::args::{self, Args};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::{self, InTransaction};
use crate::command::invocation::Invocation;
use crate::command::profiler::Watch;
use crate::command::state::Engine;
use crate::command::{concern, create, reply, table, ttl};
use crate::context::Context;
use crate::txn::TRANSIENT;
use crate::txn::session::{Mode, SessionId, lock};

/// Whether the engine does not implement the command in a version.
pub fn is_absent(name: &str, version: ServerVersion) -> bool {
    table::find_in(version, name).is_none()
}

/// The interval between two expiry runs in milliseconds, the same as that of mongod's TTL monitor.
const TICK: i64 = 60_000;

impl Engine {
    /// Runs one command as a driver sends it in an `OP_MSG`: its name first, then its fields, with `$db` and the
    /// session's fields among them. A failure is a reply too (`ok: 0`).
    pub(crate) fn run(&self, context: &Context, command: &RawDocument) -> RawDocumentBuf {
        let database = raw::get(command, "$db").and_then(RawBsonRef::as_str);
        match self.watch(context, database) {
            None => self.run_watched(context, command, None),
            Some(watch) => {
                let reply = self.run_watched(context, command, Some(&watch));
                self.profile(context, &watch, command, &reply);
                reply
            }
        }
    }

    fn run_watched(
        &self,
        context: &Context,
        command: &RawDocument,
        watch: Option<&Watch>,
    ) -> RawDocumentBuf {
        let clock = &self.catalog.clock;
        let before = clock.now();
        let locked = Cell::new(false);
        let outcome = self.dispatch(context, command, &locked, watch);
        // A logged write has advanced the clock already, and the reply must report that time.
        let has_time = self.catalog.changes.is_on() && clock.now() != before;
        if writes(command) && !has_time {
            clock.tick(context.now());
        }
        let waits = locked.get() || outcome.is_ok() && always_waits(command);
        match (outcome, concern::unmet(command).filter(|_| waits)) {
            (Ok(reply), None) => reply,
            (Err(error), None) => reply::failed(&error),
            (Ok(reply), Some(unmet)) => reply::with(&reply, cstr!("writeConcernError"), &unmet),
            // With an unmet write concern, the outcome of the transaction is unknown, so the reply must not carry the
            // labels that invite a retry.
            (Err(error), Some(unmet)) => {
                let reply = reply::failed(&error.without_labels());
                reply::with(&reply, cstr!("writeConcernError"), &unmet)
            }
        }
    }

    fn dispatch(
        &self,
        context: &Context,
        command: &RawDocument,
        locked: &Cell<bool>,
        watch: Option<&Watch>,
    ) -> Result<RawDocumentBuf, ServerError> {
        let command = raw::validate(command.as_bytes())?;
        let Some((name, target)) = raw::elements(command).next() else {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "the command is empty",
            ));
        };
        let row = row(name, context.version())?;
        let database = database(command)?;
        let mode = generic_arguments::check(row.rules(), command, database)?;
        let now = context.now();
        self.tick(now.timestamp_millis());
        let (args, namespace) = match parse(row, command, database, target) {
            Ok(parsed) => parsed,
            Err(error) => {
                // mongod parses these two inside the transaction, so their parse errors abort it.
                if matches!(row.name, "distinct" | "find") {
                    self.give_up(&mode, now)?;
                }
                return Err(error);
            }
        };
        let mut call = Invocation {
            engine: self,
            context,
            command,
            database,
            namespace: &namespace,
            args,
            mode: mode.clone(),
            transaction: None,
            began: None,
            snapshot: None,
            statements: None,
            first_statement: 0,
            now,
            locked,
            profile: watch,
        };
        if let Some(watch) = watch {
            watch.reach(row.name);
        }
        self.open_snapshot(&mut call, row, target)?;
        match mode {
            Mode::Plain => {
                if row.transaction != InTransaction::Beside {
                    self.note(row.rules(), command, now)?;
                }
                (row.run)(&mut call)
            }
            Mode::Retryable { session, number } => {
                let handle = self.sessions.get(&session)?;
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
            } => self.run_in_transaction(call, row, target, (&session, number), start),
        }
    }

    /// Gives the command the snapshot that it requests to read, if it does.
    fn open_snapshot(
        &self,
        call: &mut Invocation<'_>,
        row: &Command,
        target: RawBsonRef<'_>,
    ) -> Result<(), ServerError> {
        let Some(moment) = concern::snapshot(call.command, &call.mode, &self.catalog.clock)? else {
            return Ok(());
        };
        let snapshot = match self.snapshots.at(moment, &self.catalog, call.now) {
            Ok(snapshot) => snapshot,
            Err(error) if matches!(call.mode, Mode::Transaction { .. }) => {
                self.give_up(&call.mode, call.now)?;
                return Err(label(error));
            }
            Err(error) => return Err(error),
        };
        let snapshot = call.snapshot.insert(snapshot);
        match target {
            // The command's own value names the collection.
            RawBsonRef::String(name) if row.target == CommandTarget::Database => {
                snapshot.check(&self.catalog, &Namespace::new(call.database, name))
            }
            _ => snapshot.check(&self.catalog, call.namespace),
        }
    }

    /// Runs a statement of a transaction, which its first statement (`start`) begins.
    fn run_in_transaction(
        &self,
        call: Invocation<'_>,
        row: &Command,
        target: RawBsonRef<'_>,
        (session, number): (&SessionId, i64),
        start: bool,
    ) -> Result<RawDocumentBuf, ServerError> {
        // A binding of its own, which can borrow from the session below.
        let now = call.now;
        let mut call = call;
        let handle = self.sessions.get(session)?;
        let mut state = lock(&handle);
        state.touch(now);
        if start {
            let moment = match call.snapshot.take() {
                Some(snapshot) => snapshot.root,
                None => call.began.insert(self.catalog.root()).clone(),
            };
            state.start(&self.sessions, session, number, moment, now)?;
        }
        let transaction = state.transaction(session, number)?;
        if transaction.is_expired(now) {
            state.abort(&self.sessions);
        }
        let transaction = state.transaction(session, number)?;
        if start && let Some(RawBsonRef::Document(first)) = raw::get(call.command, "readConcern") {
            transaction.set_concern(first);
        }
        let allowed = concern::check_later(row.name, transaction.concern());
        call.transaction = Some(transaction);
        let outcome = allowed
            .and_then(|()| match target {
                // `create` itself checks whether the collection exists now.
                _ if row.name == create::CREATE.name => Ok(()),
                RawBsonRef::String(name) => call.follow(&Namespace::new(call.database, name)),
                _ => Ok(()),
            })
            .and_then(|()| (row.run)(&mut call));
        // As on mongod, any failure aborts the transaction.
        match outcome {
            Ok(reply) => {
                if has_errors(&reply) {
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

    /// Checks the general fields of a command that runs outside the engine, and returns its mode.
    pub(crate) fn admit(
        &self,
        rules: generic_arguments::Rules,
        command: &RawDocument,
        now: bson::DateTime,
    ) -> Result<Mode, ServerError> {
        let database = raw::get(command, "$db").and_then(RawBsonRef::as_str);
        let mode = generic_arguments::check(rules, command, database.unwrap_or_default())?;
        concern::snapshot(command, &mode, &self.catalog.clock)?;
        self.note(rules, command, now)?;
        Ok(mode)
    }

    /// Records the session of a command, even where the command does not use it.
    fn note(
        &self,
        rules: generic_arguments::Rules,
        command: &RawDocument,
        now: bson::DateTime,
    ) -> Result<(), ServerError> {
        match raw::get(command, "lsid") {
            Some(RawBsonRef::Document(lsid)) if rules.transaction != InTransaction::Never => {
                self.sessions.note(lsid, now)
            }
            _ => Ok(()),
        }
    }

    /// Aborts the transaction of a command that cannot run. If the command is the transaction's first, it starts the
    /// transaction before.
    fn give_up(&self, mode: &Mode, now: bson::DateTime) -> Result<(), ServerError> {
        let Mode::Transaction {
            session,
            number,
            start,
        } = mode
        else {
            return Ok(());
        };
        let handle = self.sessions.get(session)?;
        let mut state = lock(&handle);
        state.touch(now);
        if *start {
            state.start(&self.sessions, session, *number, self.catalog.root(), now)?;
        }
        if state.transaction(session, *number).is_ok() {
            state.abort(&self.sessions);
        }
        Ok(())
    }

    /// Runs the periodic expiry.
    pub(crate) fn tick(&self, now: i64) {
        if self.catalog.changes.is_on() {
            self.catalog
                .changes
                .set_now(bson::DateTime::from_millis(now));
        }
        if self.sessions.is_due(bson::DateTime::from_millis(now)) {
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
        // Only one of several threads runs it.
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

/// The row of a command in the table of commands. Refuses the names of others.
fn row(name: &str, version: ServerVersion) -> Result<&'static Command, ServerError> {
    if let Some(row) = table::find_in(version, name) {
        return Ok(row);
    }
    Err(match refusal::command(name) {
        Some(Absent::Planned) => args::unsupported(&format!("the command '{name}'")),
        Some(Absent::Refused(reason)) => {
            args::unsupported(&format!("the command '{name}': {reason}"))
        }
        None => ServerError::new(
            Code::COMMAND_NOT_FOUND,
            format!("no such command: '{name}'"),
        ),
    })
}

/// The fields of a command, and the namespace that they name.
fn parse<'a>(
    row: &Command,
    command: &'a RawDocument,
    database: &str,
    target: RawBsonRef<'_>,
) -> Result<(Args<'a>, Namespace), ServerError> {
    let args = Args::of_command(command, row.idl, row.fields)?;
    let collection = match row.target {
        CommandTarget::Collection => args::collection(row.name, target)?,
        CommandTarget::Database => "",
    };
    let namespace = Namespace::new(database, collection);
    if row.target == CommandTarget::Collection {
        namespace.check()?;
    }
    Ok((args, namespace))
}

/// Whether a statement of a write command failed.
fn has_errors(reply: &RawDocument) -> bool {
    let errors = raw::get(reply, "nErrors").and_then(RawBsonRef::as_i32);
    raw::get(reply, "writeErrors").is_some() || errors.is_some_and(|errors| errors > 0)
}

/// Whether a successful reply reports the write concern even if the command wrote nothing.
fn always_waits(command: &RawDocument) -> bool {
    let name = raw::elements(command).next().map_or("", |(name, _)| name);
    !matches!(name, "abortTransaction" | "aggregate")
}

/// Whether the command may have written.
fn writes(command: &RawDocument) -> bool {
    let name = raw::elements(command).next().map_or("", |(name, _)| name);
    table::find(name).is_some_and(|row| row.writes)
}

/// Labels the errors after which a client retries the whole transaction.
fn label(error: ServerError) -> ServerError {
    let transient = matches!(
        error.code(),
        Code::WRITE_CONFLICT
            | Code::SNAPSHOT_UNAVAILABLE
            | Code::SNAPSHOT_TOO_OLD
            | Code::NO_SUCH_TRANSACTION
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
