//! The settings of the profiler, and what it records of a running command.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::RawBsonRef;
use bson::{Bson, DateTime, Document, doc};
use odm_language::error::{Code, ServerError};

use crate::catalog::namespace::Namespace;
use crate::command::modify::Outcome;
use crate::context::Context;
use crate::cursor::tally::{Examined, Tally};

/// The profiling levels of the databases. If no database is profiled, a command costs one load of a flag.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    is_on: AtomicBool,
    settings: Mutex<Settings>,
}

/// The settings. As on mongod, each database has its own level and shares the other settings.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) slow_ms: i64,
    pub(crate) sample_rate: f64,
    levels: HashMap<String, i32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            slow_ms: 100,
            sample_rate: 1.0,
            levels: HashMap::new(),
        }
    }
}

impl Profiler {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn level(&self, database: &str) -> i32 {
        self.lock().levels.get(database).copied().unwrap_or(0)
    }

    pub(crate) fn set_level(&self, database: &str, level: i32) {
        let mut settings = self.lock();
        if level == 0 {
            settings.levels.remove(database);
        } else {
            settings.levels.insert(database.to_owned(), level);
        }
        self.is_on
            .store(!settings.levels.is_empty(), Ordering::Relaxed);
    }

    /// Whether commands on a database are profiled.
    pub(crate) fn covers(&self, database: &str) -> bool {
        self.is_on.load(Ordering::Relaxed) && self.level(database) > 0
    }

    /// Turns the profiler off for a database that is dropped.
    pub(crate) fn forget(&self, database: &str) {
        if self.covers(database) {
            self.set_level(database, 0);
        }
    }

    /// Refuses to drop the profiler's collection while it is on.
    pub(crate) fn check_drop(&self, namespace: &Namespace) -> Result<(), ServerError> {
        if *namespace.collection == *Namespace::PROFILE && self.covers(&namespace.database) {
            return Err(ServerError::new(
                Code::ILLEGAL_OPERATION,
                "turn off profiling before dropping system.profile collection",
            ));
        }
        Ok(())
    }

    /// Whether the profiler writes an entry for an operation of this duration.
    pub(crate) fn wants(&self, database: &str, millis: i64, context: &Context) -> bool {
        let settings = self.lock();
        match settings.levels.get(database) {
            Some(2) => true,
            Some(1) if millis >= settings.slow_ms => {
                // A double holds a fraction of 53 bits exactly.
                #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
                let drawn = (context.random() >> 11) as f64 / (1_u64 << 53) as f64;
                drawn < settings.sample_rate
            }
            _ => false,
        }
    }
}

/// The record of one profiled command.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) began: DateTime,
    pub(crate) tally: Arc<Tally>,
    /// The effects of a write command, one document for each statement.
    pub(crate) statements: RefCell<Vec<Document>>,
    /// The command's canonical name, set once the command is parsed and starts to run.
    pub(crate) reached: Cell<Option<&'static str>>,
    /// The effects of a `findAndModify`.
    pub(crate) changed: RefCell<Document>,
}

impl Watch {
    pub(crate) fn new(context: &Context) -> Self {
        Self {
            began: context.now(),
            tally: Arc::default(),
            statements: RefCell::default(),
            reached: Cell::default(),
            changed: RefCell::default(),
        }
    }

    /// Records that the command starts to run.
    pub(crate) fn reach(&self, command: &'static str) {
        self.reached.set(Some(command));
    }

    /// Records a statement of an `update` or a `delete`, and attributes the counts since the previous statement to it.
    pub(crate) fn statement(
        &self,
        op: &str,
        statement: Document,
        outcome: Result<&Outcome, &ServerError>,
    ) {
        let removes = op == "remove";
        let mut entry = doc! { "op": op, "command": statement };
        let examined = self.tally.take();
        match outcome {
            Ok(outcome) => {
                looked_at(&mut entry, &examined);
                entry.extend(counts(outcome, removes));
            }
            // A malformed statement is refused before it counts as an operation.
            Err(_) if examined.plan.is_none() => return,
            Err(error) => fail(&mut entry, error.code(), error.message()),
        }
        plan(&mut entry, &examined);
        self.statements.borrow_mut().push(entry);
    }

    /// Adds the comment of a command to its statements.
    pub(crate) fn comment(&self, comment: RawBsonRef<'_>) {
        for entry in &mut *self.statements.borrow_mut() {
            if let Ok(statement) = entry.get_document_mut("command") {
                statement.insert("comment", recorded(comment));
            }
        }
    }

    /// Records the effects of a `findAndModify`.
    pub(crate) fn changed(&self, outcome: &Outcome, removes: bool) {
        self.changed.replace(counts(outcome, removes));
    }
}

pub(crate) fn number(value: u64) -> Bson {
    i32::try_from(value).map_or_else(
        |_| Bson::Int64(i64::try_from(value).unwrap_or(i64::MAX)),
        Bson::Int32,
    )
}

pub(crate) fn signed(value: i64) -> Bson {
    number(u64::try_from(value).unwrap_or(0))
}

fn counts(outcome: &Outcome, removes: bool) -> Document {
    if removes {
        return doc! { "ndeleted": signed(outcome.matched) };
    }
    doc! {
        "nMatched": signed(outcome.matched),
        "nModified": signed(outcome.modified),
        "nUpserted": i32::from(outcome.upserted.is_some()),
    }
}

pub(crate) fn looked_at(entry: &mut Document, examined: &Examined) {
    entry.insert("keysExamined", number(examined.keys));
    entry.insert("docsExamined", number(examined.documents));
    if examined.sorts {
        entry.insert("hasSortStage", true);
    }
}

pub(crate) fn plan(entry: &mut Document, examined: &Examined) {
    if let Some(plan) = &examined.plan {
        entry.insert("planSummary", plan);
    }
}

pub(crate) fn fail(entry: &mut Document, code: Code, message: &str) {
    entry.insert("ok", 0.0);
    entry.insert("errMsg", message);
    entry.insert("errName", code.name());
    entry.insert("errCode", code.number());
}

/// Adds the counts of a cursor's batch. `asked` is the cursor of a `getMore`.
pub(crate) fn batch(entry: &mut Document, returned: usize, id: i64, asked: Option<i64>) {
    match (id, asked) {
        (0, None) => {}
        (id, None) => {
            entry.insert("cursorid", id);
        }
        (_, Some(asked)) => {
            entry.insert("cursorid", asked);
        }
    }
    if id == 0 {
        entry.insert("cursorExhausted", true);
    }
    let returned = u64::try_from(returned).unwrap_or(u64::MAX);
    entry.insert("nreturned", number(returned));
}

/// A hint of a statement as its entry records it.
pub(crate) fn recorded_hint(hint: RawBsonRef<'_>) -> Bson {
    match hint {
        RawBsonRef::String(name) => doc! { "$hint": name }.into(),
        hint => recorded(hint),
    }
}

/// A value of a statement as its entry records it; null where it is not valid BSON.
pub(crate) fn recorded(value: RawBsonRef<'_>) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Null)
}
