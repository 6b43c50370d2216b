//! The entries that the profiler writes to `system.profile`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::args::whole;
use crate::command::direct::{Answer, Request};
use crate::command::profiler::{Watch, batch, fail, looked_at, number, plan, signed};
use crate::command::reply::{Page, Written};
use crate::command::state::Engine;
use crate::context::Context;

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

impl Engine {
    /// Starts profiling a command if its database is profiled.
    pub(crate) fn watch(&self, context: &Context, database: Option<&str>) -> Option<Watch> {
        // A getMore that waits runs again and again under a hold. Only its first run is profiled.
        let is_covered = database.is_some_and(|it| self.profiler.covers(it));
        (is_covered && context.hold().is_none()).then(|| Watch::new(context))
    }

    /// Writes the entry of a command from its reply.
    pub(crate) fn profile(
        &self,
        context: &Context,
        watch: &Watch,
        command: &RawDocument,
        reply: &RawDocument,
    ) {
        let (Some(name), Some((_, target))) = (watch.reached.get(), raw::elements(command).next())
        else {
            return;
        };
        let database = raw::get(command, "$db").and_then(RawBsonRef::as_str);
        let database = database.unwrap_or_default();
        let code = raw::get(reply, "code").and_then(RawBsonRef::as_i32);
        // Outside a transaction, a command with a write conflict runs again.
        if code == Some(Code::WRITE_CONFLICT.number()) && raw::get(command, "autocommit").is_none()
        {
            return;
        }
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
                if let Some(comment) = raw::get(command, "comment") {
                    watch.comment(comment);
                }
                return self.write_entries(context, watch, database, &namespace);
            }
            "insert" => "insert",
            "find" => "query",
            // The batches of a list have no entry.
            "getMore" if collection.is_some_and(|name| name.starts_with("$cmd.")) => return,
            "getMore" => "getmore",
            // A pipeline without a collection gets no entry.
            "aggregate" if collection.is_none() => return,
            name if COMMANDS.binary_search(&name).is_ok() => "command",
            _ => return,
        };
        if let Some(code) = code {
            let is_too_early = match name {
                "getMore" | "drop" | "create" => true,
                // mongod refuses a stage without a name before it looks up the collection.
                "aggregate" => code == 40324,
                _ => false,
            };
            if is_too_early {
                return;
            }
        }
        let mut command = Document::try_from(command).unwrap_or_default();
        command.remove("documents");
        let mut entry = doc! { "op": op, "command": command };
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

    /// Writes the entry of a request from its answer.
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

/// The `op` and the command document that correspond to a request; `None` for updates and deletes, which have an entry
/// for each statement.
fn spelled(request: &Request<'_>, namespace: &Namespace) -> Option<(&'static str, Document)> {
    let collection = &*namespace.collection;
    let (op, mut command) = match request {
        Request::Find { filter, one } => {
            let filter = Document::try_from(&*filter.to_document()).unwrap_or_default();
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
