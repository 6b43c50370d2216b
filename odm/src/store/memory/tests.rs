//! Futures that wait for other writers.

use bson::rawdoc;

use super::*;

#[tokio::test]
async fn a_write_is_not_made_after_its_future_is_dropped() {
    let memory = Memory::new(Context::system(), "x");
    let run = |command: RawDocumentBuf| memory.run("x", command).unwrap();
    let update = |by: i32| {
        let change = rawdoc! { "q": { "_id": 1 }, "u": { "$inc": { "n": by } } };
        rawdoc! { "update": "c", "updates": [change] }
    };
    let in_transaction = |mut command: RawDocumentBuf, starts: bool| {
        let id = bson::Binary::from(bson::Uuid::from_bytes([7; 16]));
        command.append(cstr!("lsid"), rawdoc! { "id": id });
        command.append(cstr!("txnNumber"), 1_i64);
        command.append(cstr!("autocommit"), false);
        if starts {
            command.append(cstr!("startTransaction"), true);
        }
        command
    };
    run(rawdoc! { "insert": "c", "documents": [{ "_id": 1, "n": 0 }] });
    run(in_transaction(update(1), true));
    let waiting = memory.run_waiting("x", update(10));
    let waited = tokio::time::timeout(Duration::from_millis(20), waiting).await;
    assert!(waited.is_err());
    let commit = in_transaction(rawdoc! { "commitTransaction": 1 }, false);
    memory.run("admin", commit).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let found = run(rawdoc! { "find": "c", "filter": { "n": 1 } });
    let batch = found.get_document("cursor").unwrap();
    let batch = batch.get_array("firstBatch").unwrap();
    assert!(batch.get_document(0).is_ok(), "{batch:?}");
}
