//! Many threads on one engine.

use bson::{Document, doc};

use super::run;
use crate::engine::{Context, Engine};

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
fn a_unique_key_is_never_doubled() {
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
fn transactions_move_without_loss() {
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
            if step(inc(1, -1), true)
                && step(inc(2, 1), false)
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
