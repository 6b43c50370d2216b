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
    /// The collection has more than documents to be rid of.
    dirty: bool,
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
    pub(crate) excepted: usize,
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
        }
    }

    async fn reset(&mut self, case: &Case) {
        self.dirty |= case
            .steps
            .iter()
            .any(|step| step.command.contains_key("create"));
        let command = if self.dirty {
            doc! { "drop": "c" }
        } else {
            doc! { "delete": "c", "deletes": [{ "q": {}, "limit": 0 }] }
        };
        ask(&self.memory, command.clone()).await;
        ask(&self.server, command).await;
        self.dirty = false;
    }

    /// Runs the steps; ends with the first difference that the steps after it would inherit.
    pub(crate) async fn run(&mut self, case: &Case) -> Outcome {
        self.reset(case).await;
        let mut outcome = Outcome::default();
        let (mut here, mut there) = (0, 0);
        for (at, step) in case.steps.iter().enumerate() {
            let writes = !["find", "aggregate", "count", "distinct"]
                .iter()
                .any(|name| step.command.contains_key(*name));
            if ["create", "createIndexes"]
                .iter()
                .any(|name| step.command.contains_key(*name))
            {
                self.dirty = true;
            }
            if step.command.get_str("getMore").is_ok_and(|id| id == OPEN) && here == 0 && there == 0
            {
                continue;
            }
            let memory = ask(&self.memory, with_cursor(step, here)).await;
            let server = ask(&self.server, with_cursor(step, there)).await;
            here = opened(&memory, here);
            there = opened(&server, there);
            match verdict(&memory, &server, step.order) {
                Verdict::Same => outcome.same += 1,
                Verdict::Unsupported => {
                    outcome.unsupported += 1;
                    if writes {
                        return outcome;
                    }
                }
                Verdict::Different(_)
                    if exceptions::name(&step.command, &memory, &server).is_some() =>
                {
                    outcome.excepted += 1;
                    if writes {
                        return outcome;
                    }
                }
                Verdict::Different(kind) => {
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
}
