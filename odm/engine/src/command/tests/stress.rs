//! Many threads on one engine.

use bson::{Document, doc};

use super::run;
use crate::Context;
use crate::command::state::Engine;

const THREADS: i32 = 8;
const ROUNDS: i32 = 200;

fn in_threads(work: impl Fn(i32) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}

#[test]
fn no_increment_is_lost() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    run(doc! { "insert": "a", "documents": [{ "_id": 1, "n": 0 }] });
    in_threads(|_| {
        for _ in 0..ROUNDS {
            let reply = run(
                doc! { "update": "a", "updates": [{ "q": { "_id": 1 }, "u": { "$inc": { "n": 1 } } }] },
            );
            assert_eq!(reply.get_i32("nModified").unwrap(), 1, "{reply}");
        }
    });
    let reply = run(doc! { "find": "a" });
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap();
    let document = batch[0].as_document().unwrap();
    assert_eq!(document.get_i32("n").unwrap(), THREADS * ROUNDS);
}

#[test]
fn unique_keys_stay_unique() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    run(
        doc! { "createIndexes": "a", "indexes": [{ "key": { "k": 1 }, "name": "k", "unique": true }] },
    );
    in_threads(|thread| {
        for round in 0..ROUNDS {
            run(
                doc! { "insert": "a", "documents": [{ "_id": thread * ROUNDS + round, "k": round }] },
            );
        }
    });
    assert_eq!(run(doc! { "count": "a" }).get_i32("n").unwrap(), ROUNDS);
}

#[test]
fn concurrent_transfers_keep_the_total() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |db: &str, command: Document| run(&engine, &context, db, &command);
    run(
        "x",
        doc! { "insert": "a", "documents": [{ "_id": 1, "n": 1000 }, { "_id": 2, "n": 0 }] },
    );
    in_threads(|thread| {
        let session = bson::Binary {
            subtype: bson::spec::BinarySubtype::Uuid,
            bytes: vec![u8::try_from(thread).unwrap(); 16],
        };
        let mut done = 0;
        let mut number = 0_i64;
        while done < 20 {
            number += 1;
            let step = |mut command: Document, start: bool| {
                command.insert("lsid", doc! { "id": session.clone() });
                command.insert("txnNumber", number);
                command.insert("autocommit", false);
                if start {
                    command.insert("startTransaction", true);
                }
                let db = if command.contains_key("commitTransaction") {
                    "admin"
                } else {
                    "x"
                };
                run(db, command).get_f64("ok").unwrap() > 0.0
            };
            let inc = |id: i32, by: i32| {
                doc! { "update": "a", "updates": [{ "q": { "_id": id }, "u": { "$inc": { "n": by } } }] }
            };
            // The read takes the snapshot: other transactions commit between it and the writes.
            let pause = || {
                std::thread::yield_now();
                true
            };
            if step(doc! { "find": "a" }, true)
                && pause()
                && step(inc(1, -1), false)
                && pause()
                && step(inc(2, 1), false)
                && pause()
                && step(doc! { "commitTransaction": 1 }, false)
            {
                done += 1;
            }
        }
    });
    let reply = run("x", doc! { "find": "a", "sort": { "_id": 1 } });
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap();
    let moved = |at: usize| batch[at].as_document().unwrap().get_i32("n").unwrap();
    assert_eq!((moved(0), moved(1)), (1000 - THREADS * 20, THREADS * 20));
}

/// One thread of the mixed load.
fn work(thread: i32, run: &dyn Fn(Document) -> Document) {
    let update = |q: Document, u: Document| doc! { "update": "a", "updates": [{ "q": q, "u": u }] };
    for round in 0..ROUNDS {
        match thread {
            // Counts; both fields always together.
            0 | 1 => {
                let inc = doc! { "$inc": { "n": 1, "m": 1 } };
                let reply = if round % 2 == 0 {
                    run(update(doc! { "_id": "counter" }, inc))
                } else {
                    run(doc! { "findAndModify": "a", "query": { "_id": "counter" }, "update": inc })
                };
                // An index build may conflict, but no write may be partial.
                assert_eq!(reply.get_f64("ok").ok(), Some(1.0), "{reply}");
            }
            // Inserts conflicting unique keys.
            2 | 3 => {
                let id = thread * ROUNDS + round;
                run(doc! { "insert": "a", "documents": [{ "_id": id, "k": round % 50 }] });
                if round % 3 == 0 {
                    run(
                        doc! { "delete": "a", "deletes": [{ "q": { "k": round % 50 }, "limit": 1 }] },
                    );
                }
            }
            // Builds and drops indexes at the same time.
            4 => {
                let index = doc! { "key": { "n": 1, "k": -1 }, "name": "built" };
                run(doc! { "createIndexes": "a", "indexes": [index] });
                run(doc! { "dropIndexes": "a", "index": "built" });
            }
            // Moves between two documents, in transactions.
            5 => {
                let transaction = |mut command: Document, start: bool| {
                    let id = bson::Binary {
                        subtype: bson::spec::BinarySubtype::Uuid,
                        bytes: vec![5; 16],
                    };
                    command.insert("lsid", doc! { "id": id });
                    command.insert("txnNumber", i64::from(round));
                    command.insert("autocommit", false);
                    if start {
                        command.insert("startTransaction", true);
                    }
                    run(command).get_f64("ok").ok() == Some(1.0)
                };
                let inc =
                    |id: &str, by: i32| update(doc! { "_id": id }, doc! { "$inc": { "v": by } });
                let _ = transaction(inc("left", -1), true)
                    && transaction(inc("right", 1), false)
                    && transaction(doc! { "commitTransaction": 1 }, false);
            }
            // Reads, and sees no partial writes.
            _ => {
                let reply = run(doc! { "find": "a", "batchSize": 1000 });
                let batch = reply
                    .get_document("cursor")
                    .unwrap()
                    .get_array("firstBatch")
                    .unwrap();
                let mut keys = std::collections::BTreeSet::new();
                let mut sum = 0;
                for row in batch.iter().filter_map(bson::Bson::as_document) {
                    assert_eq!(row.get_i32("n").ok(), row.get_i32("m").ok(), "{row}");
                    sum += row.get_i32("v").unwrap_or(0);
                    if let Ok(key) = row.get_i32("k") {
                        assert!(keys.insert(key), "{key} twice");
                    }
                }
                assert_eq!(sum, 1000);
            }
        }
    }
}

#[test]
fn mixed_concurrent_commands_are_atomic() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| {
        let admin = command.contains_key("commitTransaction");
        run(
            &engine,
            &context,
            if admin { "admin" } else { "x" },
            &command,
        )
    };
    run(doc! { "insert": "a", "documents": [
        { "_id": "counter", "n": 0, "m": 0 }, { "_id": "left", "v": 1000 }, { "_id": "right", "v": 0 },
    ] });
    let unique = doc! { "key": { "k": 1 }, "name": "k", "unique": true, "sparse": true };
    run(doc! { "createIndexes": "a", "indexes": [unique] });
    in_threads(|thread| work(thread, &run));
    let reply = run(doc! { "find": "a", "filter": { "_id": "counter" } });
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap();
    let counter = batch[0].as_document().unwrap();
    assert_eq!(counter.get_i32("n").ok(), Some(2 * ROUNDS));
    let reply = run(doc! { "find": "a", "filter": { "_id": "right", "v": { "$gt": 0 } } });
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch");
    assert_eq!(batch.unwrap().len(), 1, "no transaction went through");
    // Every index holds exactly the keys of the documents.
    let reply = run(doc! { "validate": "a" });
    assert_eq!(reply.get_bool("valid").ok(), Some(true), "{reply}");
}

/// One thread that takes and releases locks of transactions.
fn lock_and_let_go(thread: i32, run: &dyn Fn(&str, Document) -> Document) {
    let lsid = |number: i32| {
        let bytes = vec![u8::try_from(number).unwrap(); 16];
        let subtype = bson::spec::BinarySubtype::Uuid;
        doc! { "id": bson::Binary { subtype, bytes } }
    };
    for round in 0..ROUNDS {
        match thread {
            // Two connections each share a session, as no client should.
            0..4 => {
                let step = |db: &str, mut command: Document| {
                    command.insert("lsid", lsid(thread % 2));
                    command.insert("txnNumber", i64::from(round / 2));
                    command.insert("autocommit", false);
                    run(db, command)
                };
                let rows = vec![doc! { "_id": thread * ROUNDS + round, "k": round % 5 }];
                let first = doc! { "insert": "a", "documents": &rows, "startTransaction": true };
                step("x", first);
                step(
                    "x",
                    doc! { "insert": if round % 4 == 0 { "new" } else { "b" }, "documents": rows },
                );
                let end = ["commitTransaction", "abortTransaction"][usize::from(round % 3 == 0)];
                if round % 5 > 0 {
                    step("admin", doc! { end: 1 });
                }
            }
            4 => {
                run("admin", doc! { "killSessions": [lsid(round % 2)] });
            }
            5 => {
                run("admin", doc! { "endSessions": [lsid(round % 2)] });
                let index = doc! { "key": { "k": 1 }, "name": "k", "unique": round % 2 == 0 };
                run("x", doc! { "createIndexes": "a", "indexes": [index] });
                run("x", doc! { "dropIndexes": "a", "index": "k" });
            }
            6 => {
                let rename = doc! { "renameCollection": "x.b", "to": "x.a", "dropTarget": true };
                run("admin", rename);
                run("x", doc! { "drop": "new" });
            }
            _ => {
                run("x", doc! { "insert": "b", "documents": [{ "_id": round }] });
                if round % 10 == 0 {
                    run("x", doc! { "dropDatabase": 1 });
                }
            }
        }
    }
}

#[test]
fn no_lock_outlives_its_transaction() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |db: &str, command: Document| run(&engine, &context, db, &command);
    in_threads(|thread| lock_and_let_go(thread, &run));
    run("admin", doc! { "killAllSessions": [] });
    let root = engine.catalog.root();
    for collection in root.database("x") {
        assert!(
            collection.shared.lock().is_empty(),
            "{}",
            collection.namespace
        );
        let reply = run("x", doc! { "validate": &*collection.namespace.collection });
        assert_eq!(reply.get_bool("valid").ok(), Some(true), "{reply}");
    }
    assert_eq!(engine.sessions.counts().1, 0);
}

/// A write that two connections send at the same time, as after a lost reply, runs once, and both get the reply.
#[test]
fn a_retried_write_is_executed_once() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    run(doc! { "insert": "a", "documents": [{ "_id": 1, "n": 0 }] });
    let bytes = vec![1; 16];
    let subtype = bson::spec::BinarySubtype::Uuid;
    let lsid = doc! { "id": bson::Binary { subtype, bytes } };
    let next = std::sync::Barrier::new(usize::try_from(THREADS).unwrap());
    in_threads(|_| {
        for number in 0..ROUNDS {
            next.wait();
            let update = doc! { "q": { "_id": 1 }, "u": { "$inc": { "n": 1 } } };
            let reply = run(doc! {
                "update": "a", "updates": [update], "lsid": &lsid, "txnNumber": i64::from(number),
            });
            assert_eq!(reply.get_i32("nModified").ok(), Some(1), "{reply}");
        }
    });
    let reply = run(doc! { "count": "a", "query": { "n": ROUNDS } });
    assert_eq!(reply.get_i32("n").ok(), Some(1));
}

/// Threads that share a cursor, some of which close it, never get the same document.
#[test]
fn cursors_return_no_document_twice() {
    const EACH: i32 = 400;
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    let rows: Vec<Document> = (0..EACH).map(|id| doc! { "_id": id }).collect();
    run(doc! { "insert": "a", "documents": rows });
    for is_killed in [false, true] {
        let reply = run(doc! { "find": "a", "batchSize": 1 });
        let id = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
        let told = std::sync::Mutex::new(vec![0]);
        in_threads(|thread| {
            for round in 0.. {
                if is_killed && thread == 0 && round == 20 {
                    run(doc! { "killCursors": "a", "cursors": [id] });
                }
                let other = round % 7 == 0;
                let name = if other { "b" } else { "a" };
                let reply = run(doc! { "getMore": id, "collection": name, "batchSize": 1 });
                match reply.get_i32("code") {
                    Ok(43 | 237) => break,
                    Ok(code) => assert!(code == 143 || code == 13 && other, "{reply}"),
                    Err(_) => {
                        let cursor = reply.get_document("cursor").unwrap();
                        for row in cursor.get_array("nextBatch").unwrap() {
                            let id = row.as_document().unwrap().get_i32("_id").unwrap();
                            told.lock().unwrap().push(id);
                        }
                    }
                }
            }
        });
        let mut told = told.into_inner().unwrap();
        let count = i32::try_from(told.len()).unwrap();
        assert!(if is_killed {
            count <= EACH
        } else {
            count == EACH
        });
        told.sort_unstable();
        told.dedup();
        assert_eq!(i32::try_from(told.len()).unwrap(), count);
        assert_eq!(engine.cursors.count(), 0);
    }
}
