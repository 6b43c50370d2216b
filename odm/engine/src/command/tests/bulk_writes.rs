//! `bulkWrite`, which 8.0 has added. What it answers follows MongoDB's documentation.

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};
use odm_language::version::ServerVersion;

use super::run;
use crate::Context;
use crate::command::state::Engine;

struct Fixture {
    engine: Engine,
    context: Context,
}

impl Fixture {
    /// Collections `x.c`, with a unique index on `u`, and `y.d`.
    fn new() -> Self {
        let it = Self {
            engine: Engine::new(),
            context: Context::system().with_version(ServerVersion::V8_0),
        };
        let documents: Vec<Document> = (0..4)
            .map(|id| doc! { "_id": id, "u": id, "g": 1 })
            .collect();
        it.run("x", doc! { "insert": "c", "documents": documents.clone() });
        it.run("y", doc! { "insert": "d", "documents": documents });
        let index = doc! { "key": { "u": 1 }, "name": "u", "unique": true };
        it.run("x", doc! { "createIndexes": "c", "indexes": [index] });
        it
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "commands are written in place"
    )]
    fn run(&self, database: &str, command: Document) -> Document {
        run(&self.engine, &self.context, database, &command)
    }

    /// Runs operations on `x.c` (0), `y.d` (1) and the missing `z.e` (2).
    fn bulk(&self, operations: Vec<Document>, options: Document) -> Document {
        let names = ["x.c", "y.d", "z.e"].map(|ns| doc! { "ns": ns });
        let mut command = doc! { "bulkWrite": 1, "ops": operations, "nsInfo": names.to_vec() };
        command.extend(options);
        self.run("admin", command)
    }

    fn ids(&self, database: &str, collection: &str) -> Vec<Bson> {
        let found = self.run(database, doc! { "find": collection, "sort": { "_id": 1 } });
        batch(&found)
            .iter()
            .map(|it| it.get("_id").unwrap().clone())
            .collect()
    }
}

fn batch(reply: &Document) -> Vec<Document> {
    let cursor = reply.get_document("cursor").unwrap();
    let batch = cursor.get_array("firstBatch").unwrap().iter();
    batch.map(|it| it.as_document().unwrap().clone()).collect()
}

fn counts(reply: &Document) -> [i32; 6] {
    [
        "nErrors",
        "nInserted",
        "nMatched",
        "nModified",
        "nUpserted",
        "nDeleted",
    ]
    .map(|name| reply.get_i32(name).unwrap())
}

fn session(at: u8) -> Document {
    let bytes = vec![at; 16];
    doc! { "id": Binary { subtype: BinarySubtype::Uuid, bytes } }
}

fn insert(into: i32, id: i32) -> Document {
    doc! { "insert": into, "document": { "_id": id, "u": id } }
}

fn update(of: i32, filter: Document, mods: Document) -> Document {
    doc! { "update": of, "filter": filter, "updateMods": mods }
}

fn delete(of: i32, filter: Document) -> Document {
    doc! { "delete": of, "filter": filter }
}

#[test]
fn several_collections_are_written() {
    let it = Fixture::new();
    let mut all = update(1, doc! { "g": 1 }, doc! { "$set": { "s": 1 } });
    all.insert("multi", true);
    let mut upsert = update(2, doc! { "_id": 7 }, doc! { "$set": { "s": 1 } });
    upsert.insert("upsert", true);
    let reply = it.bulk(
        vec![
            insert(0, 10),
            insert(0, 11),
            all,
            upsert,
            delete(1, doc! { "_id": 0 }),
        ],
        doc! {},
    );
    assert_eq!(counts(&reply), [0, 2, 4, 4, 1, 1], "{reply}");
    let cursor = reply.get_document("cursor").unwrap();
    assert_eq!(cursor.get_str("ns").unwrap(), "admin.$cmd.bulkWrite");
    assert_eq!(cursor.get_i64("id").unwrap(), 0);
    assert_eq!(
        batch(&reply),
        [
            doc! { "ok": 1.0, "idx": 0, "n": 1 },
            doc! { "ok": 1.0, "idx": 1, "n": 1 },
            doc! { "ok": 1.0, "idx": 2, "n": 4, "nModified": 4 },
            doc! { "ok": 1.0, "idx": 3, "n": 1, "nModified": 0, "upserted": { "_id": 7 } },
            doc! { "ok": 1.0, "idx": 4, "n": 1 },
        ]
    );
    assert_eq!(it.ids("z", "e"), [Bson::Int32(7)]);
    assert_eq!(it.ids("y", "d").len(), 3);
}

#[test]
fn an_error_ends_ordered_operations() {
    let operations = || {
        vec![
            insert(0, 10),
            insert(0, 1),
            insert(0, 11),
            delete(1, doc! {}),
        ]
    };
    let it = Fixture::new();
    let ordered = it.bulk(operations(), doc! {});
    assert_eq!(counts(&ordered), [1, 1, 0, 0, 0, 0]);
    let results = batch(&ordered);
    assert_eq!(results.len(), 2);
    assert_eq!(results[1].get_i32("code").unwrap(), 11000);
    assert_eq!(results[1].get_i32("idx").unwrap(), 1);
    assert!(results[1].contains_key("keyPattern"));
    let it = Fixture::new();
    let unordered = it.bulk(operations(), doc! { "ordered": false, "errorsOnly": true });
    assert_eq!(counts(&unordered), [1, 2, 0, 0, 0, 1]);
    assert_eq!(batch(&unordered).len(), 1);
}

#[test]
fn options_of_operations() {
    let it = Fixture::new();
    let mut last = update(0, doc! { "g": 1 }, doc! { "$set": { "s": 1 } });
    last.insert("sort", doc! { "_id": -1 });
    let mut hinted = delete(0, doc! { "g": 1 });
    hinted.insert("hint", "nope");
    let mut filtered = update(1, doc! { "_id": 1 }, doc! { "$set": { "l.$[i]": 9 } });
    filtered.insert("arrayFilters", vec![doc! { "i": 1 }]);
    let mut collated = delete(1, doc! { "w": "A" });
    collated.insert("collation", doc! { "locale": "en", "strength": 2 });
    it.run("y", doc! { "update": "d", "updates": [{ "q": { "_id": 1 }, "u": { "$set": { "l": [1, 2], "w": "a" } } }] });
    let variable = doc! { "$expr": { "$eq": ["$_id", "$$v"] } };
    let reply = it.bulk(
        vec![last, hinted, filtered, collated, delete(1, variable)],
        doc! { "ordered": false, "let": { "v": 2 } },
    );
    assert_eq!(counts(&reply), [1, 0, 2, 2, 0, 2], "{reply}");
    assert_eq!(batch(&reply)[1].get_i32("code").unwrap(), 2);
    let found = it.run("x", doc! { "find": "c", "filter": { "s": 1 } });
    assert_eq!(batch(&found)[0].get_i32("_id").unwrap(), 3);
}

#[test]
fn a_small_batch_leaves_a_cursor() {
    let it = Fixture::new();
    let operations = (10..15).map(|id| insert(1, id)).collect();
    let reply = it.bulk(operations, doc! { "cursor": { "batchSize": 2 } });
    assert_eq!(batch(&reply).len(), 2);
    let id = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
    let more = it.run(
        "admin",
        doc! { "getMore": id, "collection": "$cmd.bulkWrite" },
    );
    let rest = more
        .get_document("cursor")
        .unwrap()
        .get_array("nextBatch")
        .unwrap();
    assert_eq!(rest.len(), 3, "{more}");
}

#[test]
fn a_retry_writes_nothing_again() {
    let it = Fixture::new();
    let increment = || update(1, doc! { "_id": 1 }, doc! { "$inc": { "g": 1 } });
    let operations = || {
        vec![
            insert(0, 10),
            increment(),
            increment(),
            delete(0, doc! { "_id": 0 }),
        ]
    };
    let numbered = |number: i64| doc! { "lsid": session(1), "txnNumber": number };
    let first = it.bulk(operations(), numbered(1));
    let again = it.bulk(operations(), numbered(1));
    assert_eq!(counts(&first), [0, 1, 2, 2, 0, 1]);
    assert_eq!(counts(&again), counts(&first));
    assert_eq!(batch(&again), batch(&first));
    let retried = again.get_array("retriedStmtIds").unwrap();
    assert_eq!(*retried, [0, 1, 2, 3].map(Bson::Int32));
    let found = it.run("y", doc! { "find": "d", "filter": { "_id": 1 } });
    assert_eq!(batch(&found)[0].get_i32("g").unwrap(), 3);
    let mut all = delete(0, doc! {});
    all.insert("multi", true);
    let refused = it.bulk(vec![all], numbered(2));
    assert_eq!(batch(&refused)[0].get_i32("code").unwrap(), 72);
}

#[test]
fn a_transaction_holds_all_operations() {
    let it = Fixture::new();
    let inside = |start: bool| {
        let mut fields = doc! { "lsid": session(2), "txnNumber": 1_i64, "autocommit": false };
        if start {
            fields.insert("startTransaction", true);
        }
        fields
    };
    let reply = it.bulk(vec![insert(0, 10), insert(2, 10)], inside(true));
    assert_eq!(counts(&reply), [0, 2, 0, 0, 0, 0], "{reply}");
    assert_eq!(it.ids("x", "c").len(), 4);
    // A conflict with the transaction undoes the operations in front of it.
    let conflict = it.bulk(vec![insert(1, 20), insert(0, 10)], doc! {});
    assert_eq!(conflict.get_i32("code").unwrap(), 112);
    assert_eq!(it.ids("y", "d").len(), 4);
    let mut commit = doc! { "commitTransaction": 1 };
    commit.extend(inside(false));
    assert_eq!(it.run("admin", commit).get_f64("ok").ok(), Some(1.0));
    assert_eq!((it.ids("x", "c").len(), it.ids("z", "e").len()), (5, 1));
}

#[test]
fn an_error_aborts_a_transaction() {
    let it = Fixture::new();
    let fields = doc! { "lsid": session(3), "txnNumber": 1_i64, "autocommit": false };
    let mut start = fields.clone();
    start.insert("startTransaction", true);
    let reply = it.bulk(vec![insert(1, 10), insert(0, 1)], start);
    assert_eq!(counts(&reply), [1, 1, 0, 0, 0, 0]);
    let mut commit = doc! { "commitTransaction": 1 };
    commit.extend(fields);
    assert_eq!(it.run("admin", commit).get_i32("code").unwrap(), 251);
    assert_eq!(it.ids("y", "d").len(), 4);
}

#[test]
fn faults_are_refused() {
    let it = Fixture::new();
    let code = |reply: Document| reply.get_i32("code").unwrap();
    let one = doc! { "bulkWrite": 1, "ops": [insert(0, 10)], "nsInfo": [{ "ns": "x.c" }] };
    assert_eq!(code(it.run("x", one.clone())), 13);
    assert_eq!(code(it.bulk(vec![insert(3, 1)], doc! {})), 2);
    assert_eq!(code(it.bulk(vec![insert(-1, 1)], doc! {})), 2);
    assert_eq!(code(it.bulk(Vec::new(), doc! {})), 16);
    assert_eq!(code(it.bulk(vec![doc! { "zork": 1 }], doc! {})), 9);
    let mut sorted = update(0, doc! {}, doc! { "$set": { "a": 1 } });
    sorted.extend(doc! { "multi": true, "sort": { "a": 1 } });
    assert_eq!(code(it.bulk(vec![sorted], doc! {})), 9);
    let unnamed = doc! { "bulkWrite": 1, "ops": [insert(0, 10)], "nsInfo": [{ "ns": "x" }] };
    assert_eq!(code(it.run("admin", unnamed)), 73);
    let old = Context::system();
    let reply = run(&it.engine, &old, "admin", &one);
    assert_eq!(reply.get_i32("code").unwrap(), 59);
}

#[test]
fn views_and_capped_collections() {
    let it = Fixture::new();
    it.run("x", doc! { "create": "v", "viewOn": "c", "pipeline": [] });
    it.run("x", doc! { "create": "p", "capped": true, "size": 4_096 });
    let names = ["x.v", "x.p"].map(|ns| doc! { "ns": ns });
    let reply = it.run(
        "admin",
        doc! {
            "bulkWrite": 1,
            "ops": [insert(0, 1), insert(0, 2), insert(1, 1)],
            "nsInfo": names.to_vec(),
            "ordered": false,
        },
    );
    assert_eq!(counts(&reply), [2, 1, 0, 0, 0, 0], "{reply}");
    assert_eq!(batch(&reply)[1].get_i32("code").unwrap(), 166);
}
