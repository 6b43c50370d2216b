//! One case on both stores.

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

/// A write that does not wait for the server's journal: it has no crash to survive.
fn quick(mut command: Document) -> Document {
    command.insert("writeConcern", doc! { "w": 1, "j": false });
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
        }
    }

    async fn reset(&mut self, case: &Case) {
        self.dirty |= case
            .steps
            .iter()
            .any(|step| step.command.contains_key("create"));
        if self.dirty {
            ask(&self.memory, doc! { "drop": "c" }).await;
            ask(&self.server, doc! { "drop": "c" }).await;
        } else {
            if self.indexed {
                let command = doc! { "dropIndexes": "c", "index": "*" };
                ask(&self.memory, command.clone()).await;
                ask(&self.server, quick(command)).await;
            }
            let command = doc! { "delete": "c", "deletes": [{ "q": {}, "limit": 0 }] };
            ask(&self.memory, command.clone()).await;
            ask(&self.server, quick(command)).await;
        }
        self.dirty = false;
        self.indexed = false;
    }

    /// Runs the steps; ends with the first difference that the steps after it would inherit.
    pub(crate) async fn run(&mut self, case: &Case) -> Outcome {
        self.reset(case).await;
        let mut outcome = Outcome::default();
        let (mut here, mut there) = (0, 0);
        for (at, step) in case.steps.iter().enumerate() {
            let writes = !["find", "aggregate", "count", "distinct", "getMore"]
                .iter()
                .any(|name| step.command.contains_key(*name));
            self.dirty |= step.command.contains_key("create");
            self.indexed |= step.command.contains_key("createIndexes");
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
            match verdict(&memory, &server, step.order) {
                Verdict::Same => outcome.same += 1,
                Verdict::Unsupported => {
                    outcome.unsupported += 1;
                    if writes {
                        return outcome;
                    }
                }
                Verdict::Different(kind) => {
                    if let Some(name) = exceptions::name(&step.command, &memory, &server) {
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
        self.dirty |= last.command.contains_key("create");
        self.indexed |= last.command.contains_key("createIndexes");
        let memory = ask(&self.memory, last.command.clone()).await;
        let server = ask(&self.server, last.command.clone()).await;
        Some([memory, server])
    }
}
