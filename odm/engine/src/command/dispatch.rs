//! Looks up the command that a document names, does the work that all commands share (checks its fields, database and
//! session), and runs it.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::refusal::{self, Absent};
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::args::{self, Args};
use crate::command::declare::CommandTarget;
use crate::command::generic_arguments::{self, InTransaction};
use crate::command::invocation::Invocation;
use crate::command::profiler::Watch;
use crate::command::state::Engine;
use crate::command::{concern, create, reply, table, ttl};
use crate::context::Context;
use crate::txn::TRANSIENT;
use crate::txn::session::{Mode, lock};

/// Whether the engine does not implement the command.
pub fn is_absent(name: &str) -> bool {
    table::find(name).is_none()
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
        let mode = generic_arguments::check(row.rules(), command, database)?;
        let now = context.now();
        self.tick(now.timestamp_millis());
        let parse = || {
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
        };
        let (args, namespace) = match parse() {
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
            now,
            locked: Cell::new(false),
            profile: watch,
        };
        if let Some(watch) = watch {
            watch.reach(row.name);
        }
        let run = |call: &mut Invocation<'_>| {
            let outcome = (row.run)(call);
            locked.set(call.locked.get());
            outcome
        };
        if let Some(moment) = concern::snapshot(command, &mode, &self.catalog.clock)? {
            let snapshot = self.snapshots.at(moment, &self.catalog, now);
            let snapshot = match snapshot {
                Ok(snapshot) => snapshot,
                Err(error) if matches!(mode, Mode::Transaction { .. }) => {
                    self.give_up(&mode, now)?;
                    return Err(label(error));
                }
                Err(error) => return Err(error),
            };
            let snapshot = call.snapshot.insert(snapshot);
            match target {
                // The command's own value names the collection.
                RawBsonRef::String(name) if row.target == CommandTarget::Database => {
                    snapshot.check(&self.catalog, &Namespace::new(database, name))?;
                }
                _ => snapshot.check(&self.catalog, call.namespace)?,
            }
        }
        match mode {
            Mode::Plain => {
                if row.transaction != InTransaction::Beside {
                    self.note(row.rules(), command, now)?;
                }
                run(&mut call)
            }
            Mode::Retryable { session, number } => {
                let handle = self.sessions.get(&session)?;
                let mut state = lock(&handle);
                state.touch(now);
                call.statements = Some(state.retryable(&self.sessions, &session, number)?);
                run(&mut call)
            }
            // These two read the session themselves.
            Mode::Transaction { .. } if row.transaction == InTransaction::Ends => run(&mut call),
            Mode::Transaction {
                session,
                number,
                start,
            } => {
                let handle = self.sessions.get(&session)?;
                let mut state = lock(&handle);
                state.touch(now);
                if start {
                    let moment = match call.snapshot.take() {
                        Some(snapshot) => snapshot.root,
                        None => call.began.insert(self.catalog.root()).clone(),
                    };
                    state.start(&self.sessions, &session, number, moment, now)?;
                }
                let transaction = state.transaction(&session, number)?;
                if transaction.is_expired(now) {
                    state.abort(&self.sessions);
                }
                let transaction = state.transaction(&session, number)?;
                if start && let Some(RawBsonRef::Document(first)) = raw::get(command, "readConcern")
                {
                    transaction.set_concern(first);
                }
                let runs = concern::check_later(row.name, transaction.concern());
                call.transaction = Some(transaction);
                let followed = runs.and_then(|()| match target {
                    // `create` itself checks whether the collection exists now.
                    _ if row.name == create::CREATE.name => Ok(()),
                    RawBsonRef::String(name) => call.follow(&Namespace::new(database, name)),
                    _ => Ok(()),
                });
                let outcome = followed.and_then(|()| run(&mut call));
                // As on mongod, any failure aborts the transaction.
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
