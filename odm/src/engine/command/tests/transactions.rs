//! Transactions, where a server would have somebody wait.

use bson::{Bson, Document, doc};

use super::run;
use crate::engine::{Context, Engine};

#[test]
fn what_a_transaction_has_used_stays_as_it_was() {
    let (engine, context) = (Engine::new(), Context::system());
    let ask = |command: Document| run(&engine, &context, "x", &command);
    let mut begins = true;
    let mut inside = |mut command: Document| {
        let lsid = bson::Uuid::from_bytes([7; 16]);
        command.extend(doc! { "lsid": { "id": lsid }, "txnNumber": 1_i64, "autocommit": false });
        if std::mem::take(&mut begins) {
            command.insert("startTransaction", true);
        }
        ask(command)
    };
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
