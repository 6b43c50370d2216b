//! `profile`, and the operations that `system.profile` lists.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    each_operation_is_counted,
    plans_are_summarized,
    requests_of_models_are_counted,
    the_level_is_set_and_shown,
    only_slow_operations_are_counted,
    the_collection_of_the_profiler_is_kept,
    a_larger_collection_of_the_profiler_takes_all_entries,
    statements_show_their_hints_and_comments,
    a_former_reply_sets_the_level,
    batches_of_lists_are_not_counted,
];

async fn run(db: &Db, command: BsonDocument) -> BsonDocument {
    db.run_command(command).await.unwrap()
}

async fn code(db: &Db, command: BsonDocument) -> i32 {
    let error = db.run_command(command).await.unwrap_err();
    error.code().unwrap().number()
}

async fn filled(db: &Db) {
    let documents: Vec<Bson> = (0..10)
        .map(|id| doc! { "_id": id, "a": id % 5, "b": id }.into())
        .collect();
    let index = doc! { "key": { "a": 1 }, "name": "a" };
    run(db, doc! { "insert": "c", "documents": documents }).await;
    run(db, doc! { "createIndexes": "c", "indexes": [index] }).await;
}

/// The profiled operations of a collection.
async fn entries(db: &Db, collection: &str) -> Vec<BsonDocument> {
    let full = format!("{}.{collection}", db.name());
    let find = doc! { "find": "system.profile", "filter": { "ns": full }, "batchSize": 1000 };
    let reply = run(db, find).await;
    let cursor = reply.get_document("cursor").unwrap();
    let batch = cursor.get_array("firstBatch").unwrap().iter();
    batch.map(|it| it.as_document().unwrap().clone()).collect()
}

const COUNTS: [&str; 15] = [
    "op",
    "keysExamined",
    "docsExamined",
    "hasSortStage",
    "nMatched",
    "nModified",
    "nUpserted",
    "ninserted",
    "ndeleted",
    "cursorExhausted",
    "nreturned",
    "ok",
    "errName",
    "errCode",
    "planSummary",
];

/// The entries of the commands, without fields that differ from run to run.
async fn profiled(db: &Db, commands: Vec<BsonDocument>) -> Vec<BsonDocument> {
    run(db, doc! { "profile": 2 }).await;
    let before = entries(db, "c").await.len();
    for command in commands {
        let _ = db.run_command(command).await;
    }
    run(db, doc! { "profile": 0 }).await;
    let shown = |entry: &BsonDocument| {
        let counts = COUNTS.iter();
        counts
            .filter_map(|name| Some(((*name).to_owned(), entry.get(name)?.clone())))
            .collect()
    };
    let entries = entries(db, "c").await;
    entries.iter().skip(before).map(shown).collect()
}

async fn each_operation_is_counted(db: &Db) {
    filled(db).await;
    let set = |field: &str, value: i32| doc! { "$set": { field: value } };
    let commands = vec![
        doc! { "find": "c", "filter": { "a": 1 } },
        doc! { "insert": "c", "documents": [{ "_id": 10, "a": 9 }, { "_id": 11, "a": 9 }] },
        doc! { "insert": "c", "documents": [{ "_id": 10 }] },
        doc! { "update": "c", "updates": [
            { "q": { "a": 9 }, "u": set("b", 1), "multi": true },
            { "q": { "_id": 3 }, "u": set("b", 3) },
            { "q": { "_id": "new" }, "u": set("b", 1), "upsert": true },
        ] },
        doc! { "update": "c", "updates": [{ "q": { "_id": 3 }, "u": set("_id", 7) }] },
        doc! { "delete": "c", "deletes": [
            { "q": { "a": 9 }, "limit": 0 },
            { "q": { "_id": "new" }, "limit": 1 },
        ] },
        doc! { "aggregate": "c", "pipeline": [{ "$match": { "b": 1 } }], "cursor": {} },
        doc! { "count": "c", "query": { "b": 1 } },
        doc! { "distinct": "c", "key": "b" },
        doc! { "findAndModify": "c", "query": { "a": 1 }, "update": set("b", 30) },
        doc! { "findAndModify": "c", "query": { "b": 30 }, "remove": true },
        doc! { "find": "c", "filter": { "$zork": 1 } },
        doc! { "find": "c", "zork": 1 },
        doc! { "getMore": 1_i64, "collection": "c" },
        doc! { "ping": 1 },
    ];
    let examined = |op: &str, keys: i32, documents: i32| doc! { "op": op, "keysExamined": keys, "docsExamined": documents };
    let with = |mut entry: BsonDocument, more: BsonDocument| {
        entry.extend(more);
        entry
    };
    let updated = |matched: i32, modified: i32, upserted: i32| doc! { "nMatched": matched, "nModified": modified, "nUpserted": upserted };
    let returned = |n: i32| doc! { "cursorExhausted": true, "nreturned": n };
    let plan = |plan: &str| doc! { "planSummary": plan };
    let failed = |name: &str, code: i32| doc! { "ok": 0.0, "errName": name, "errCode": code };
    let by_a = || plan("IXSCAN { a: 1 }");
    let expected = vec![
        with(with(examined("query", 2, 2), returned(2)), by_a()),
        doc! { "op": "insert", "ninserted": 2 },
        doc! { "op": "insert", "ninserted": 0 },
        with(with(examined("update", 2, 2), updated(2, 2, 0)), by_a()),
        with(
            with(examined("update", 1, 1), updated(1, 0, 0)),
            plan("IDHACK"),
        ),
        with(
            with(examined("update", 0, 0), updated(0, 0, 1)),
            plan("IDHACK"),
        ),
        with(
            with(doc! { "op": "update" }, failed("ImmutableField", 66)),
            plan("IDHACK"),
        ),
        with(
            with(examined("remove", 2, 2), doc! { "ndeleted": 2 }),
            by_a(),
        ),
        with(
            with(examined("remove", 1, 1), doc! { "ndeleted": 1 }),
            plan("IDHACK"),
        ),
        with(
            with(examined("command", 0, 10), returned(1)),
            plan("COLLSCAN"),
        ),
        with(examined("command", 0, 10), plan("COLLSCAN")),
        with(examined("command", 0, 10), plan("COLLSCAN")),
        with(with(doc! { "op": "command" }, updated(1, 1, 0)), by_a()),
        with(
            with(doc! { "op": "command" }, doc! { "ndeleted": 1 }),
            plan("COLLSCAN"),
        ),
        with(doc! { "op": "query" }, failed("BadValue", 2)),
    ];
    let mut entries = profiled(db, commands).await;
    // The order of a scan is open, and so is how much it examines before the first match.
    for entry in entries.iter_mut().filter(|entry| {
        entry.get_str("op").is_ok_and(|op| op == "command")
            && (entry.contains_key("nModified") || entry.contains_key("ndeleted"))
    }) {
        assert!(entry.remove("keysExamined").is_some());
        assert!(entry.remove("docsExamined").is_some());
    }
    for (at, (entry, expected)) in entries.iter().zip(&expected).enumerate() {
        assert_eq!(entry, expected, "entry {at}");
    }
    assert_eq!(entries.len(), expected.len());
    // The profiler is off.
    let all = self::entries(db, "c").await.len();
    run(db, doc! { "find": "c" }).await;
    assert_eq!(self::entries(db, "c").await.len(), all);
}

async fn plans_are_summarized(db: &Db) {
    filled(db).await;
    let find = |filter: BsonDocument| doc! { "find": "c", "filter": filter };
    let commands = vec![
        find(doc! { "_id": 1 }),
        find(doc! { "_id": { "$in": [1, 2] } }),
        find(doc! { "$or": [{ "a": 1 }, { "_id": 1 }] }),
        doc! { "find": "c", "sort": { "b": 1 } },
        doc! { "count": "c" },
        doc! { "count": "c", "query": { "a": 1 } },
        doc! { "distinct": "c", "key": "a" },
    ];
    let entries = profiled(db, commands).await;
    let counts = |entry: &BsonDocument| {
        (
            entry.get_str("planSummary").unwrap().to_owned(),
            entry.get_i32("keysExamined").unwrap(),
            entry.get_i32("docsExamined").unwrap(),
            entry.contains_key("hasSortStage"),
        )
    };
    let shown: Vec<_> = entries.iter().map(counts).collect();
    let expected = [
        ("IDHACK", 1, 1, false),
        ("IXSCAN { _id: 1 }", 3, 2, false),
        ("IXSCAN { _id: 1 }, IXSCAN { a: 1 }", 3, 2, false),
        ("COLLSCAN", 0, 10, true),
        ("RECORD_STORE_FAST_COUNT", 0, 0, false),
        ("COUNT_SCAN { a: 1 }", 3, 0, false),
        ("DISTINCT_SCAN { a: 1 }", 5, 0, false),
    ];
    let expected = expected.map(|(plan, keys, docs, sorts)| (plan.to_owned(), keys, docs, sorts));
    assert_eq!(shown, expected);
    run(db, doc! { "profile": 2 }).await;
    run(db, doc! { "find": "missing" }).await;
    run(db, doc! { "profile": 0 }).await;
    let missing = self::entries(db, "missing").await;
    assert_eq!(missing[0].get_str("planSummary").unwrap(), "EOF");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
}

async fn requests_of_models_are_counted(db: &Db) {
    let notes = db.collection::<Note>();
    let note = |id: i32| Note {
        id,
        text: format!("note {id}"),
    };
    notes.insert_one(note(1)).await.unwrap();
    run(db, doc! { "profile": 2 }).await;
    notes.insert_one(note(2)).await.unwrap();
    assert_eq!(notes.get(&2).await.unwrap(), Some(note(2)));
    run(db, doc! { "profile": 0 }).await;
    notes.insert_one(note(3)).await.unwrap();
    let entries = entries(db, "notes").await;
    let ops: Vec<_> = entries.iter().map(|it| it.get_str("op").unwrap()).collect();
    assert_eq!(ops, ["insert", "query"]);
    assert_eq!(entries[0].get_i32("ninserted").unwrap(), 1);
    assert_eq!(entries[1].get_i32("nreturned").unwrap(), 1);
    assert_eq!(entries[1].get_str("planSummary").unwrap(), "IDHACK");
    let command = entries[1].get_document("command").unwrap();
    assert_eq!(command.get_str("find").unwrap(), "notes");
}

async fn the_level_is_set_and_shown(db: &Db) {
    let was = async |command| run(db, command).await.get_i32("was").unwrap();
    assert_eq!(was(doc! { "profile": -1 }).await, 0);
    assert_eq!(was(doc! { "profile": 1 }).await, 0);
    assert_eq!(was(doc! { "profile": 2 }).await, 1);
    assert_eq!(was(doc! { "profile": 3 }).await, 2);
    assert_eq!(was(doc! { "profile": -1 }).await, 2);
    let reply = run(
        db,
        doc! { "profile": 0, "filter": "unset", "sampleRate": 1.0 },
    )
    .await;
    assert!(reply.contains_key("slowms") && reply.contains_key("sampleRate"));
    for (command, expected) in [
        (doc! { "profile": "a" }, 14),
        (doc! { "profile": null }, 40414),
        (doc! { "profile": 0, "sampleRate": 1.5 }, 2),
        (doc! { "profile": 0, "slowms": "a" }, 14),
        (doc! { "profile": 0, "filter": 1 }, 2),
    ] {
        assert_eq!(code(db, command.clone()).await, expected, "{command}");
    }
}

async fn only_slow_operations_are_counted(db: &Db) {
    run(db, doc! { "insert": "c", "documents": [{ "_id": 1 }] }).await;
    let before = run(db, doc! { "profile": 1, "slowms": 60_000 }).await;
    run(db, doc! { "find": "c" }).await;
    let slow_ms = before.get("slowms").cloned();
    run(db, doc! { "profile": 0, "slowms": slow_ms.clone() }).await;
    assert!(entries(db, "c").await.is_empty());
    // Below zero, every operation is slow.
    run(db, doc! { "profile": 1, "slowms": -1 }).await;
    run(db, doc! { "find": "c" }).await;
    run(db, doc! { "profile": 0, "slowms": slow_ms }).await;
    assert_eq!(entries(db, "c").await.len(), 1);
}

async fn the_collection_of_the_profiler_is_kept(db: &Db) {
    run(db, doc! { "profile": 2 }).await;
    let listed = run(
        db,
        doc! { "listCollections": 1, "filter": { "name": "system.profile" } },
    )
    .await;
    let listed = listed
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap();
    let options = listed[0]
        .as_document()
        .unwrap()
        .get_document("options")
        .unwrap();
    assert_eq!(options, &doc! { "capped": true, "size": 1_048_576 });
    assert_eq!(code(db, doc! { "drop": "system.profile" }).await, 20);
    run(db, doc! { "profile": 0 }).await;
    run(db, doc! { "drop": "system.profile" }).await;
    run(db, doc! { "create": "system.profile" }).await;
    assert_eq!(code(db, doc! { "profile": 2 }).await, 48);
    run(db, doc! { "drop": "system.profile" }).await;
    run(db, doc! { "profile": 2 }).await;
    run(db, doc! { "dropDatabase": 1 }).await;
    let reply = run(db, doc! { "profile": 0 }).await;
    assert_eq!(reply.get_i32("was").unwrap(), 0);
}

/// The manual's way to enlarge it.
async fn a_larger_collection_of_the_profiler_takes_all_entries(db: &Db) {
    filled(db).await;
    let enlarge = doc! { "create": "system.profile", "capped": true, "size": 4 << 20 };
    run(db, enlarge).await;
    let indexes = run(db, doc! { "listIndexes": "system.profile" }).await;
    let indexes = indexes.get_document("cursor").unwrap();
    assert!(indexes.get_array("firstBatch").unwrap().is_empty());
    run(db, doc! { "profile": 2 }).await;
    for a in 0..5 {
        run(db, doc! { "find": "c", "filter": { "a": a } }).await;
    }
    run(db, doc! { "profile": 0 }).await;
    assert_eq!(entries(db, "c").await.len(), 5);
}

async fn statements_show_their_hints_and_comments(db: &Db) {
    filled(db).await;
    run(db, doc! { "profile": 2 }).await;
    let update = doc! {
        "q": { "a": 9 }, "u": { "$set": { "b.$[e]": 1 } }, "arrayFilters": [{ "e": 1 }], "hint": "a",
        "collation": { "locale": "simple" },
    };
    let commands = [
        doc! { "update": "c", "updates": [update], "comment": "why" },
        doc! { "update": "c", "updates": [{ "q": { "a": 9 }, "u": { "b": 1 }, "hint": { "a": 1 } }] },
        doc! { "delete": "c", "deletes": [{ "q": { "a": 9 }, "limit": 1, "hint": "a" }], "comment": { "n": 1 } },
        doc! { "delete": "c", "deletes": [{ "q": { "a": 9 }, "limit": 0, "collation": { "locale": "simple" } }] },
    ];
    for command in commands {
        run(db, command).await;
    }
    run(db, doc! { "profile": 0 }).await;
    let statements: Vec<_> = entries(db, "c")
        .await
        .iter()
        .map(|entry| entry.get_document("command").unwrap().clone())
        .collect();
    let simple = doc! { "locale": "simple" };
    let expected = [
        doc! {
            "q": { "a": 9 }, "u": { "$set": { "b.$[e]": 1 } }, "arrayFilters": [{ "e": 1 }],
            "hint": { "$hint": "a" }, "multi": false, "upsert": false, "collation": &simple,
            "comment": "why",
        },
        doc! { "q": { "a": 9 }, "u": { "b": 1 }, "hint": { "a": 1 }, "multi": false, "upsert": false },
        doc! { "q": { "a": 9 }, "limit": 1, "hint": { "$hint": "a" }, "comment": { "n": 1 } },
        doc! { "q": { "a": 9 }, "limit": 0, "collation": &simple },
    ];
    assert_eq!(statements, expected);
}

async fn a_former_reply_sets_the_level(db: &Db) {
    let mut reply = run(db, doc! { "profile": 1 }).await;
    // A client may send only one cluster time.
    reply.remove("$clusterTime");
    let level = reply.remove("was").unwrap();
    let mut back = doc! { "profile": &level, "was": &level };
    back.extend(reply);
    back.insert("electionId", 1);
    let before = run(db, back).await;
    assert_eq!(before.get_i32("was").unwrap(), 1);
    // Other clients may set the time, which all databases share.
    let now = run(db, doc! { "profile": -1, "unknown": 1 }).await;
    assert_eq!(now.get_i32("was").unwrap(), 0);
}

async fn batches_of_lists_are_not_counted(db: &Db) {
    filled(db).await;
    run(db, doc! { "profile": 2 }).await;
    let list = doc! { "listCollections": 1, "cursor": { "batchSize": 0 } };
    let reply = run(db, list).await;
    let id = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
    run(
        db,
        doc! { "getMore": id, "collection": "$cmd.listCollections" },
    )
    .await;
    run(db, doc! { "profile": 0 }).await;
    assert!(entries(db, "$cmd.listCollections").await.is_empty());
}
