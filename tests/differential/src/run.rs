//! One case on both stores.

use std::collections::BTreeSet;
use std::mem;
use std::time::Duration;

use odm::Db;
use odm::bson::{Bson, Document, doc};

use crate::cases::{Case, OPEN, Step};
use crate::compare::{Kind, PANIC, Verdict, reply_of, verdict};
use crate::exceptions;

/// The two stores.
#[derive(Debug)]
pub(crate) struct Stores {
    memory: Db,
    server: Db,
    /// The collection has options to be rid of.
    dirty: bool,
    /// It has indexes to be rid of.
    indexed: bool,
    /// The other collections to be rid of.
    others: BTreeSet<String>,
}

/// Where a case went apart.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) at: usize,
    pub(crate) kind: Kind,
    pub(crate) memory: Document,
    pub(crate) server: Document,
}

/// What became of a case.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) same: usize,
    pub(crate) unsupported: usize,
    /// The names of the known differences that were met.
    pub(crate) known: Vec<&'static str>,
    pub(crate) differences: Vec<Difference>,
}

/// Commands after which a collection must be made anew.
const CHANGES: &[&str] = &["create", "collMod", "drop", "convertToCapped"];

const READS: &[&str] = &[
    "find",
    "aggregate",
    "count",
    "distinct",
    "getMore",
    "listIndexes",
    "listCollections",
];

/// What later steps build on.
fn writes(command: &Document) -> bool {
    let stages = command.get_array("pipeline").ok();
    let stages = stages.into_iter().flatten().filter_map(Bson::as_document);
    let into = |stage: &Document| stage.contains_key("$out") || stage.contains_key("$merge");
    !READS.iter().any(|name| command.contains_key(*name)) || stages.into_iter().any(into)
}

async fn ask(db: &Db, command: Document) -> Document {
    // A task of its own, so that a panic is an answer too.
    let db = db.clone();
    let reply = tokio::spawn(async move { db.run_command(command).await }).await;
    match reply {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => reply_of(&error),
        Err(panic) => doc! { "ok": 0, "code": -1, "errmsg": format!("{PANIC}: {panic}") },
    }
}

/// Whether the server is gone, or not what it was.
fn is_down(reply: &Document) -> bool {
    let message = reply.get_str("errmsg").unwrap_or("");
    let code = reply.get_i32("code").unwrap_or(0);
    code == -1 && !message.contains("Invalid UTF-8")
        || matches!(code, 10107 | 11600 | 13435 | 189 | 91)
}

/// A write that does not wait for the server's journal: it has no crash to survive.
fn quick(mut command: Document) -> Document {
    if !command.contains_key("writeConcern") {
        command.insert("writeConcern", doc! { "w": 1, "j": false });
    }
    command
}

fn opened(reply: &Document, before: i64) -> i64 {
    reply
        .get_document("cursor")
        .ok()
        .and_then(|cursor| cursor.get_i64("id").ok())
        .unwrap_or(before)
}

fn with_cursor(step: &Step, id: i64) -> Document {
    let mut command = step.command.clone();
    if command.get_str("getMore").is_ok_and(|id| id == OPEN) {
        command.insert("getMore", Bson::Int64(id));
    }
    command
}

impl Stores {
    pub(crate) fn new(memory: Db, server: Db) -> Self {
        Self {
            memory,
            server,
            dirty: true,
            indexed: false,
            others: BTreeSet::new(),
        }
    }

    /// Remembers what a command may leave behind.
    fn mark(&mut self, command: &Document) {
        self.dirty |= CHANGES.iter().any(|name| command.contains_key(*name));
        self.indexed |= command.contains_key("createIndexes");
        if let Some((_, Bson::String(name))) = command.iter().next()
            && name != "c"
        {
            self.others.insert(name.clone());
        }
        let stages = command.get_array("pipeline").ok();
        for stage in stages.into_iter().flatten().filter_map(Bson::as_document) {
            if stage.contains_key("$out") || stage.contains_key("$merge") {
                self.others.insert("o".to_owned());
            }
        }
    }

    /// Empties both stores, and again where the server went down over it.
    async fn reset(&mut self, case: &Case) {
        for _ in 0..5 {
            if self.clear(case).await {
                break;
            }
            self.wait().await;
        }
    }

    /// Has both stores run a command; whether the server is still there.
    async fn both(&self, command: Document) -> bool {
        ask(&self.memory, command.clone()).await;
        !is_down(&ask(&self.server, quick(command)).await)
    }

    /// Whether the server did its part.
    async fn clear(&mut self, case: &Case) -> bool {
        let mut is_done = true;
        for name in mem::take(&mut self.others) {
            is_done &= self.both(doc! { "drop": name }).await;
        }
        for step in &case.steps {
            self.dirty |= CHANGES.iter().any(|name| step.command.contains_key(*name));
        }
        if self.dirty {
            is_done &= self.both(doc! { "drop": "c" }).await;
        } else {
            if self.indexed {
                is_done &= self.both(doc! { "dropIndexes": "c", "index": "*" }).await;
            }
            let all = doc! { "delete": "c", "deletes": [{ "q": {}, "limit": 0 }] };
            is_done &= self.both(all).await;
        }
        self.dirty = false;
        self.indexed = false;
        is_done
    }

    /// Waits for a server that comes back, with whatever it had.
    async fn wait(&mut self) {
        for _ in 0..60 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if !ask(&self.server, doc! { "ping": 1 })
                .await
                .contains_key("code")
            {
                break;
            }
        }
        self.dirty = true;
        self.others.extend(["o", "v", "w"].map(str::to_owned));
    }

    /// Runs the steps; ends with the first difference that the steps after it would inherit.
    pub(crate) async fn run(&mut self, case: &Case) -> Outcome {
        self.reset(case).await;
        let mut outcome = Outcome::default();
        let (mut here, mut there) = (0, 0);
        for (at, step) in case.steps.iter().enumerate() {
            let writes = writes(&step.command);
            self.mark(&step.command);
            if step.command.get_str("getMore").is_ok_and(|id| id == OPEN) && here == 0 && there == 0
            {
                continue;
            }
            let memory = ask(&self.memory, with_cursor(step, here)).await;
            let mut asked = with_cursor(step, there);
            if writes {
                asked = quick(asked);
            }
            let server = ask(&self.server, asked).await;
            here = opened(&memory, here);
            there = opened(&server, there);
            // The driver took another of its own sessions: the cursor can be read no further.
            if server.get_i32("code").is_ok_and(|code| code == 50738) {
                return outcome;
            }
            if is_down(&server) {
                outcome.known.push("a mongod 6.0.5 that goes down");
                self.wait().await;
                return outcome;
            }
            match verdict(&memory, &server, step.order) {
                Verdict::Same => outcome.same += 1,
                Verdict::Unsupported => {
                    outcome.unsupported += 1;
                    if writes {
                        return outcome;
                    }
                }
                Verdict::Different(kind) => {
                    let asked = case.steps.get(..=at).unwrap_or_default();
                    if let Some(name) = exceptions::name(asked, &memory, &server) {
                        outcome.known.push(name);
                        if writes {
                            return outcome;
                        }
                        continue;
                    }
                    outcome.differences.push(Difference {
                        at,
                        kind,
                        memory,
                        server,
                    });
                    if writes && kind != Kind::Message {
                        return outcome;
                    }
                }
            }
        }
        outcome
    }

    /// What both answer to the last step, the engine first; `None` where an earlier step sets them apart.
    pub(crate) async fn last(&mut self, case: &Case) -> Option<[Document; 2]> {
        let (last, before) = case.steps.split_last()?;
        let before = Case {
            area: case.area,
            steps: before.to_vec(),
        };
        if !self.run(&before).await.differences.is_empty() {
            return None;
        }
        self.mark(&last.command);
        let memory = ask(&self.memory, last.command.clone()).await;
        let server = ask(&self.server, last.command.clone()).await;
        Some([memory, server])
    }
}
