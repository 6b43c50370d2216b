//! Transactions in conflicts where mongod would wait.

use bson::{Bson, Document, doc};

use super::run;
use crate::Context;
use crate::command::state::Engine;

/// A command in the first transaction of a session.
fn of(session: u8, starts: bool, mut command: Document) -> Document {
    let lsid = bson::Uuid::from_bytes([session; 16]);
    command.extend(doc! { "lsid": { "id": lsid }, "txnNumber": 1_i64, "autocommit": false });
    if starts {
        command.insert("startTransaction", true);
    }
    command
}

#[test]
fn updates_without_changes_do_not_conflict() {
    let (engine, context) = (Engine::new(), Context::system());
    let ask = |command: Document| run(&engine, &context, "x", &command);
    let update = |update: Document| doc! { "update": "c", "updates": [{ "q": {}, "u": update }] };
    ask(doc! { "insert": "c", "documents": [{ "_id": 1, "a": 1 }] });
    ask(of(1, true, update(doc! { "$set": { "a": 2 } })));
    for nothing in [doc! { "$set": { "a": 1 } }, doc! { "$unset": { "b": 1 } }] {
        let told = ask(update(nothing));
        assert_eq!(told, doc! { "n": 1, "nModified": 0, "ok": 1.0 });
    }
    let told = ask(of(2, true, update(doc! { "$set": { "a": 1 } })));
    assert_eq!(told, doc! { "n": 1, "nModified": 0, "ok": 1.0 });
    let told = ask(of(2, false, update(doc! { "$set": { "a": 3 } })));
    assert_eq!(told.get("code"), Some(&Bson::Int32(112)), "{told}");
}

#[test]
fn a_failed_drop_database_leaves_the_profiler_on() {
    let (engine, context) = (Engine::new(), Context::system());
    let ask = |command: Document| run(&engine, &context, "x", &command);
    ask(doc! { "insert": "c", "documents": [{ "_id": 1 }] });
    ask(doc! { "profile": 2 });
    ask(of(
        1,
        true,
        doc! { "insert": "c", "documents": [{ "_id": 2 }] },
    ));
    let refused = ask(doc! { "dropDatabase": 1 });
    assert_eq!(refused.get("code"), Some(&Bson::Int32(112)), "{refused}");
    let level = ask(doc! { "profile": -1 });
    assert_eq!(level.get("was"), Some(&Bson::Int32(2)), "{level}");
}

#[test]
fn a_duplicate_key_error_names_the_first_index() {
    let (engine, context) = (Engine::new(), Context::system());
    let ask = |command: Document| run(&engine, &context, "x", &command);
    let insert = |id: i32, a: i32| doc! { "insert": "c", "documents": [{ "_id": id, "a": a }] };
    let index = doc! { "key": { "a": 1 }, "name": "a", "unique": true };
    ask(doc! { "createIndexes": "c", "indexes": [index] });
    ask(insert(1, 1));
    ask(of(1, true, insert(2, 2)));
    let told = ask(of(2, true, insert(2, 1)));
    assert_eq!(told.get("code"), Some(&Bson::Int32(112)), "{told}");
    let told = ask(of(3, true, insert(1, 2)));
    assert!(told.to_string().contains("_id_ dup key"), "{told}");
}

#[test]
fn a_merge_that_conflicts_writes_nothing() {
    let (engine, context) = (Engine::new(), Context::system());
    let ask = |command: Document| run(&engine, &context, "x", &command);
    for name in ["s", "t"] {
        ask(doc! { "insert": name, "documents": [{ "_id": 1, "n": 0 }, { "_id": 2, "n": 0 }] });
    }
    let update = doc! { "q": { "_id": 2 }, "u": { "$set": { "n": 9 } } };
    ask(of(1, true, doc! { "update": "t", "updates": [update] }));
    let add = doc! { "$set": { "n": { "$add": ["$n", 1] } } };
    let merge = doc! { "into": "t", "whenMatched": [add] };
    let merge = doc! { "aggregate": "s", "pipeline": [{ "$merge": merge }], "cursor": {} };
    // The caller waits and retries.
    assert_eq!(ask(merge.clone()).get("code"), Some(&Bson::Int32(112)));
    assert_eq!(ask(merge.clone()).get("code"), Some(&Bson::Int32(112)));
    ask(doc! { "killSessions": [] });
    assert_eq!(ask(merge).get("ok"), Some(&Bson::Double(1.0)));
    let values = ask(doc! { "distinct": "t", "key": "n" });
    assert_eq!(values.get_array("values").unwrap(), &[Bson::Int32(1)]);
}

#[test]
fn transactions_keep_their_view_of_collections() {
    let (engine, context) = (Engine::new(), Context::system());
    let ask = |command: Document| run(&engine, &context, "x", &command);
    let mut begins = true;
    let mut inside = |command| ask(of(1, std::mem::take(&mut begins), command));
    let found = |reply: Document| {
        let cursor = reply.get_document("cursor").unwrap();
        cursor.get_array("firstBatch").unwrap().len()
    };
    ask(doc! { "insert": "c", "documents": [{ "_id": 1 }] });
    ask(doc! { "create": "v", "viewOn": "c", "pipeline": [{ "$match": { "_id": 1 } }] });
    assert_eq!(found(inside(doc! { "find": "v" })), 1);
    ask(doc! { "collMod": "v", "viewOn": "c", "pipeline": [{ "$match": { "_id": 2 } }] });
    ask(doc! { "drop": "c" });
    assert_eq!(found(inside(doc! { "find": "v" })), 1);
    assert_eq!(found(inside(doc! { "find": "c" })), 1);
    let written = inside(doc! { "insert": "c", "documents": [{ "_id": 2 }] });
    assert_eq!(written.get("code"), Some(&Bson::Int32(246)), "{written}");
}
