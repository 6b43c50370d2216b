//! `profile`, and what is written to `system.profile`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, DateTime, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::refusal;
use odm_language::value::number::Number;
use odm_language::value::raw;

use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::command::Engine;
use crate::command::args::{Kind, field, unsupported, whole, wrong_type};
use crate::command::call::Call;
use crate::command::modify::Outcome;
use crate::command::reply::{Page, Written, reply};
use crate::command::request::{Answer, Request};
use crate::command::table::{self, Command, InTransaction, Target};
use crate::context::Context;
use crate::cursor::tally::{Examined, Tally};

pub(crate) const PROFILE: Command = Command {
    name: "profile",
    idl: "profile",
    fields: &[
        field("slowms", Kind::SafeInt),
        field("sampleRate", Kind::SafeInt),
        field("filter", Kind::Any),
    ],
    target: Target::Database,
    transaction: InTransaction::Never,
    retryable: false,
    writes: false,
    run: profile,
};

/// How many bytes `system.profile` holds.
const SIZE: i32 = 1024 * 1024;

/// The commands that mongod writes as `op: "command"`; sorted.
const COMMANDS: &[&str] = &[
    "aggregate",
    "cloneCollectionAsCapped",
    "collMod",
    "collStats",
    "convertToCapped",
    "count",
    "create",
    "createIndexes",
    "dataSize",
    "dbStats",
    "distinct",
    "drop",
    "dropIndexes",
    "explain",
    "findAndModify",
    "killCursors",
    "listIndexes",
];

/// The levels of the databases. Without any, a command costs one load of a flag.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    is_on: AtomicBool,
    settings: Mutex<Settings>,
}

/// As on mongod, each database has a level; the rest is for all of them.
#[derive(Debug)]
struct Settings {
    slow_ms: i64,
    sample_rate: f64,
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
    fn lock(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn level(&self, database: &str) -> i32 {
        self.lock().levels.get(database).copied().unwrap_or(0)
    }

    fn set_level(&self, database: &str, level: i32) {
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
    fn wants(&self, database: &str, millis: i64, context: &Context) -> bool {
        let settings = self.lock();
        match settings.levels.get(database) {
            Some(2) => true,
            Some(1) if millis >= settings.slow_ms => {
                // 53 random bits are a fraction that a double holds exactly.
                #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
                let drawn = (context.random() >> 11) as f64 / (1_u64 << 53) as f64;
                drawn < settings.sample_rate
            }
            _ => false,
        }
    }
}

fn profile(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let level = match raw::given(call.command, "profile") {
        None => {
            return Err(ServerError::new(
                Code::location(40414),
                "BSON field 'profile.profile' is missing but a required field",
            ));
        }
        Some(value) => whole(value).ok_or_else(|| {
            wrong_type(
                "profile.profile",
                value,
                "types '[long, int, decimal, double']",
            )
        })?,
    };
    match call.args.get("filter") {
        None | Some(RawBsonRef::String("unset")) => {}
        Some(RawBsonRef::Document(_)) => {
            let because = refusal::because("profile.filter");
            return Err(unsupported(&format!(
                "the option 'profile.filter'{because}"
            )));
        }
        Some(_) => {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Expected an object, or the string 'unset'.",
            ));
        }
    }
    let rate = call
        .args
        .get("sampleRate")
        .and_then(Number::from_raw)
        .map(Number::to_f64);
    if rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "'sampleRate' must be between 0.0 and 1.0 inclusive",
        ));
    }
    let level = i32::try_from(level).ok().filter(|it| (0..=2).contains(it));
    if level.is_some_and(|level| level > 0) {
        ensure(call)?;
    }
    let profiler = &call.engine.profiler;
    let was = profiler.level(call.database);
    let before = {
        let mut settings = profiler.lock();
        let slow_ms =
            i32::try_from(settings.slow_ms).map_or(Bson::Int64(settings.slow_ms), Bson::Int32);
        let before = doc! { "was": was, "slowms": slow_ms, "sampleRate": settings.sample_rate };
        settings.slow_ms = call.args.int("slowms").unwrap_or(settings.slow_ms);
        settings.sample_rate = rate.unwrap_or(settings.sample_rate);
        before
    };
    if let Some(level) = level {
        profiler.set_level(call.database, level);
    }
    reply(before)
}

/// Makes the profiler's collection, unless it is there. Its documents have no `_id`, so it has no index.
fn ensure(call: &Call<'_>) -> Result<(), ServerError> {
    let namespace = Namespace::new(call.database, Namespace::PROFILE);
    let options = Options::compile(doc! { "capped": true, "size": SIZE })?;
    let made = Collection::new(namespace.clone(), call.uuid(), options, Vec::new());
    let mut root = call.engine.catalog.publish();
    match root.collection(&namespace) {
        Some(there) if there.options.capped.is_none() => Err(ServerError::new(
            Code::NAMESPACE_EXISTS,
            format!("{namespace} exists but isn't capped"),
        )),
        Some(_) => Ok(()),
        None => {
            root.check_case(call.database)?;
            root.put(made);
            Ok(())
        }
    }
}

/// One command that is profiled.
#[derive(Debug)]
pub(crate) struct Watch {
    began: DateTime,
    pub(crate) tally: Arc<Tally>,
    /// What a write command has done, a document for each statement.
    statements: RefCell<Vec<Document>>,
    /// Whether the command was read without a fault, and is executed.
    is_reached: Cell<bool>,
    /// What a `findAndModify` has done.
    changed: RefCell<Document>,
}

impl Watch {
    fn new(context: &Context) -> Self {
        Self {
            began: context.now(),
            tally: Arc::default(),
            statements: RefCell::default(),
            is_reached: Cell::default(),
            changed: RefCell::default(),
        }
    }

    /// Notes that the command is executed.
    pub(crate) fn reach(&self) {
        self.is_reached.set(true);
    }

    /// Notes a statement of an `update` or a `delete`, and takes the counts so far as its own.
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

    /// Notes what a `findAndModify` has done.
    pub(crate) fn changed(&self, outcome: &Outcome, removes: bool) {
        self.changed.replace(counts(outcome, removes));
    }
}

fn number(value: u64) -> Bson {
    i32::try_from(value).map_or_else(
        |_| Bson::Int64(i64::try_from(value).unwrap_or(i64::MAX)),
        Bson::Int32,
    )
}

fn signed(value: i64) -> Bson {
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

fn looked_at(entry: &mut Document, examined: &Examined) {
    entry.insert("keysExamined", number(examined.keys));
    entry.insert("docsExamined", number(examined.documents));
    if examined.sorts {
        entry.insert("hasSortStage", true);
    }
}

fn plan(entry: &mut Document, examined: &Examined) {
    if let Some(plan) = &examined.plan {
        entry.insert("planSummary", plan);
    }
}

fn fail(entry: &mut Document, code: Code, message: &str) {
    entry.insert("ok", 0.0);
    entry.insert("errMsg", message);
    entry.insert("errName", code.name());
    entry.insert("errCode", code.number());
}

/// The counts of a cursor's batch. `asked` is the cursor of a `getMore`.
fn batch(entry: &mut Document, returned: usize, id: i64, asked: Option<i64>) {
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

impl Engine {
    /// Begins to profile a command, if its database is profiled.
    pub(crate) fn watch(&self, context: &Context, database: Option<&str>) -> Option<Watch> {
        // A getMore that waits runs again and again under a hold. Only its first run is profiled.
        let is_covered = database.is_some_and(|it| self.profiler.covers(it));
        (is_covered && context.hold().is_none()).then(|| Watch::new(context))
    }

    /// Writes what a command did, of which this is the reply.
    pub(crate) fn profile(
        &self,
        context: &Context,
        watch: &Watch,
        command: &RawDocument,
        reply: &RawDocument,
    ) {
        let Some((name, target)) = raw::elements(command).next() else {
            return;
        };
        let database = raw::get(command, "$db").and_then(RawBsonRef::as_str);
        let database = database.unwrap_or_default();
        let code = raw::get(reply, "code").and_then(RawBsonRef::as_i32);
        if !watch.is_reached.get() {
            return;
        }
        // Such a command is run again.
        if code == Some(Code::WRITE_CONFLICT.number()) && raw::get(command, "autocommit").is_none()
        {
            return;
        }
        let name = own_name(name);
        let collection = match name {
            "getMore" => raw::get(command, "collection").and_then(RawBsonRef::as_str),
            "explain" => target
                .as_document()
                .and_then(|inner| raw::elements(inner).next()?.1.as_str()),
            "dataSize" => target
                .as_str()
                .and_then(|full| Some(full.split_once('.')?.1)),
            _ => target.as_str(),
        };
        let namespace = match collection {
            Some(collection) => format!("{database}.{collection}"),
            None => database.to_owned(),
        };
        let length = number(u64::try_from(reply.as_bytes().len()).unwrap_or(u64::MAX));
        let op = match name {
            "update" | "delete" => {
                return self.write_entries(context, watch, database, &namespace);
            }
            "insert" => "insert",
            "find" => "query",
            "getMore" => "getmore",
            // It reads no collection.
            "aggregate" if collection.is_none() => return,
            name if COMMANDS.binary_search(&name).is_ok() => "command",
            _ => return,
        };
        if let Some(code) = code {
            let is_too_early = match name {
                "getMore" | "drop" | "create" => true,
                // A stage without a name is found before the collection is looked for.
                "aggregate" => code == 40324,
                _ => false,
            };
            if is_too_early {
                return;
            }
        }
        let mut shown = Document::try_from(command).unwrap_or_default();
        shown.remove("documents");
        let mut entry = doc! { "op": op, "command": shown };
        let examined = watch.tally.read();
        let is_query = matches!(
            name,
            "aggregate" | "count" | "distinct" | "find" | "findAndModify" | "getMore"
        );
        match code {
            Some(code) => {
                let message = raw::get(reply, "errmsg").and_then(RawBsonRef::as_str);
                fail(&mut entry, Code::from(code), message.unwrap_or_default());
            }
            None if is_query => looked_at(&mut entry, &examined),
            None => {}
        }
        if let Some(RawBsonRef::Document(cursor)) = raw::get(reply, "cursor")
            && is_query
        {
            let found = raw::get(cursor, "firstBatch").or_else(|| raw::get(cursor, "nextBatch"));
            let returned = match found {
                Some(RawBsonRef::Array(found)) => raw::values(found).count(),
                _ => 0,
            };
            let id = raw::get(cursor, "id").and_then(RawBsonRef::as_i64);
            let asked = target.as_i64().filter(|_| name == "getMore");
            batch(&mut entry, returned, id.unwrap_or(0), asked);
        }
        if name == "insert" && code.is_none() {
            let n = raw::get(reply, "n").and_then(whole);
            entry.insert("ninserted", signed(n.unwrap_or(0)));
        }
        entry.extend(watch.changed.take());
        entry.insert("responseLength", length);
        plan(&mut entry, &examined);
        watch.statements.borrow_mut().push(entry);
        self.write_entries(context, watch, database, &namespace);
    }

    /// Writes what a request did, of which this is the answer.
    pub(crate) fn profile_request(
        &self,
        context: &Context,
        watch: &Watch,
        namespace: &Namespace,
        request: &Request<'_>,
        answer: &Result<Answer, ServerError>,
    ) {
        if let Some((op, command)) = spelled(request, namespace) {
            let code = answer.as_ref().err().map(ServerError::code);
            if code == Some(Code::WRITE_CONFLICT) || (op == "getmore" && code.is_some()) {
                return;
            }
            let asked = match request {
                Request::More { cursor, .. } => Some(*cursor),
                _ => None,
            };
            let mut entry = doc! { "op": op, "command": command };
            let examined = watch.tally.read();
            match answer {
                Ok(Answer::Page(Page { documents, id, .. })) => {
                    looked_at(&mut entry, &examined);
                    batch(&mut entry, documents.len(), *id, asked);
                }
                Ok(Answer::Written(Written { n, .. })) => {
                    entry.insert("ninserted", signed(*n));
                }
                Err(error) => fail(&mut entry, error.code(), error.message()),
            }
            plan(&mut entry, &examined);
            watch.statements.borrow_mut().push(entry);
        }
        self.write_entries(context, watch, &namespace.database, &namespace.to_string());
    }

    fn write_entries(&self, context: &Context, watch: &Watch, database: &str, namespace: &str) {
        let now = context.now();
        let took = now.timestamp_millis() - watch.began.timestamp_millis();
        let profile = Namespace::new(database, Namespace::PROFILE);
        for mut entry in watch.statements.take() {
            if !self.profiler.wants(database, took, context) {
                continue;
            }
            let plan = entry.remove("planSummary");
            let mut whole = doc! { "op": entry.remove("op"), "ns": namespace };
            whole.extend(entry);
            let mut entry = whole;
            entry.insert("numYield", 0);
            entry.insert("protocol", "op_msg");
            entry.insert("millis", signed(took));
            if let Some(plan) = plan {
                entry.insert("planSummary", plan);
            }
            entry.insert("ts", now);
            entry.insert("allUsers", Vec::<Bson>::new());
            entry.insert("user", "");
            let Ok(entry) = RawDocumentBuf::try_from(&entry) else {
                continue;
            };
            // As on mongod, a failure to write the entry does not fail the operation.
            let _ = self.write(&profile, true, |writer| writer.insert(&entry).map(drop));
        }
    }
}

/// The command's own name, however the client spells it.
fn own_name(name: &str) -> &str {
    table::find(name).map_or(name, |row| row.name)
}

/// The operation and the command that a request is, unless it is of statements.
fn spelled(request: &Request<'_>, namespace: &Namespace) -> Option<(&'static str, Document)> {
    let collection = &*namespace.collection;
    let (op, mut command) = match request {
        Request::Find { filter, one } => {
            let filter = Document::try_from(*filter).unwrap_or_default();
            let mut command = doc! { "find": collection, "filter": filter };
            if *one {
                command.extend(doc! { "limit": 1, "singleBatch": true });
            }
            ("query", command)
        }
        Request::More { cursor, batch_size } => {
            let mut command = doc! { "getMore": *cursor, "collection": collection };
            if let Some(size) = batch_size {
                command.insert("batchSize", i64::from(*size));
            }
            ("getmore", command)
        }
        Request::Insert { .. } | Request::Restore { .. } => {
            ("insert", doc! { "insert": collection, "ordered": true })
        }
        Request::Update { .. } | Request::Delete { .. } => return None,
    };
    command.insert("$db", &*namespace.database);
    Some((op, command))
}

/// A value of a statement as its entry shows it; null where it is not valid BSON.
pub(crate) fn shown(value: RawBsonRef<'_>) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Null)
}
