//! What an index answers without other documents: distinct values, the first documents of groups, counts, and pipelines that
//! read only indexed fields.

use std::collections::BTreeSet;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;
use crate::random::Random;

cases![
    distinct_values_are_read_from_an_index,
    the_first_documents_of_groups_are_read_from_an_index,
    pipelines_read_only_the_fields_that_they_need,
    values_keep_their_types_and_nulls,
    an_index_answers_as_a_scan_does,
];

async fn run(db: &Db, command: BsonDocument) -> BsonDocument {
    db.run_command(command).await.unwrap()
}

async fn insert(db: &Db, documents: impl IntoIterator<Item = BsonDocument>) {
    let documents: Vec<Bson> = documents.into_iter().map(Bson::from).collect();
    run(db, doc! { "insert": "c", "documents": documents }).await;
}

/// Replaces the indexes by one.
async fn index(db: &Db, key: BsonDocument) {
    run(db, doc! { "dropIndexes": "c", "index": "*" }).await;
    if !key.is_empty() && !key.contains_key("_id") {
        let index = doc! { "key": key, "name": "index" };
        run(db, doc! { "createIndexes": "c", "indexes": [index] }).await;
    }
}

/// 101 documents, the last without fields.
async fn fill(db: &Db) {
    let documents = (0..100).map(|id: i32| {
        doc! {
            "_id": id,
            "a": id % 10,
            "b": id * 7 % 13,
            "d": { "e": id % 6 },
            "t": [id % 4, id % 5],
        }
    });
    insert(db, documents.chain([doc! { "_id": 200 }])).await;
}

/// The plan of a command, and how many index keys and documents it examined, as the profiler shows them.
async fn examined(db: &Db, command: BsonDocument) -> (String, i32, i32) {
    run(db, doc! { "profile": 2 }).await;
    run(db, command).await;
    run(db, doc! { "profile": 0 }).await;
    let last = doc! { "find": "system.profile", "sort": { "$natural": -1 }, "limit": 1,
    "filter": { "ns": format!("{}.c", db.name()) } };
    let reply = run(db, last).await;
    let batch = reply.get_document("cursor").unwrap();
    let batch = batch.get_array("firstBatch").unwrap();
    let entry = batch[0].as_document().unwrap();
    let plan = entry.get_str("planSummary").unwrap().to_owned();
    let count = |name| entry.get_i32(name).unwrap_or(0);
    (plan, count("keysExamined"), count("docsExamined"))
}

/// The plan of a command, and how many index keys it examined.
async fn plan(db: &Db, command: BsonDocument) -> (String, i32) {
    let (plan, keys, _) = examined(db, command).await;
    (plan, keys)
}

async fn distinct_values_are_read_from_an_index(db: &Db) {
    fill(db).await;
    let cases = [
        ("a", doc! {}, doc! { "a": 1 }, "DISTINCT_SCAN { a: 1 }", 11),
        (
            "a",
            doc! {},
            doc! { "a": -1 },
            "DISTINCT_SCAN { a: -1 }",
            11,
        ),
        (
            "a",
            doc! {},
            doc! { "a": 1, "b": 1 },
            "DISTINCT_SCAN { a: 1, b: 1 }",
            11,
        ),
        ("b", doc! {}, doc! { "a": 1, "b": 1 }, "COLLSCAN", 0),
        (
            "b",
            doc! { "a": 3 },
            doc! { "a": 1, "b": 1 },
            "DISTINCT_SCAN { a: 1, b: 1 }",
            11,
        ),
        (
            "a",
            doc! { "a": { "$gt": 4 } },
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            5,
        ),
        (
            "a",
            doc! { "a": { "$in": [4, 6, 77] } },
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            4,
        ),
        (
            "a",
            doc! { "a": 3 },
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            2,
        ),
        (
            "a",
            doc! { "a": { "$ne": 3 } },
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            11,
        ),
        ("a", doc! { "b": 1 }, doc! { "a": 1, "b": 1 }, "COLLSCAN", 0),
        ("a", doc! { "b": 1 }, doc! { "b": 1 }, "IXSCAN { b: 1 }", 8),
        (
            "a",
            doc! { "a": { "$exists": true } },
            doc! { "a": 1 },
            "IXSCAN { a: 1 }",
            101,
        ),
        (
            "a",
            doc! { "a": null },
            doc! { "a": 1 },
            "IXSCAN { a: 1 }",
            2,
        ),
        (
            "d.e",
            doc! {},
            doc! { "d.e": 1 },
            "DISTINCT_SCAN { d.e: 1 }",
            7,
        ),
        ("t", doc! {}, doc! { "t": 1 }, "DISTINCT_SCAN { t: 1 }", 6),
        (
            "t",
            doc! { "t": { "$gt": 2 } },
            doc! { "t": 1 },
            "IXSCAN { t: 1 }",
            60,
        ),
        (
            "_id",
            doc! {},
            doc! { "_id": 1 },
            "DISTINCT_SCAN { _id: 1 }",
            101,
        ),
        (
            "_id",
            doc! { "_id": { "$lt": 4 } },
            doc! { "_id": 1 },
            "DISTINCT_SCAN { _id: 1 }",
            5,
        ),
    ];
    for (key, query, indexed, expected, keys) in cases {
        index(db, indexed.clone()).await;
        let distinct = doc! { "distinct": "c", "key": key, "query": query.clone() };
        let found = plan(db, distinct).await;
        let expected = (expected.to_owned(), keys);
        assert_eq!(found, expected, "{key} of {query} by {indexed}");
    }
}

async fn the_first_documents_of_groups_are_read_from_an_index(db: &Db) {
    fill(db).await;
    let group = doc! { "$group": { "_id": "$a" } };
    let first = doc! { "$group": { "_id": "$a", "b": { "$first": "$b" } } };
    let last = doc! { "$group": { "_id": "$a", "b": { "$last": "$b" } } };
    let sum = doc! { "$group": { "_id": "$a", "b": { "$first": "$b" }, "n": { "$sum": 1 } } };
    let root = doc! { "$group": { "_id": "$a", "f": { "$first": "$$ROOT" } } };
    let named = doc! { "$group": { "_id": { "a": "$a" } } };
    let by = |sort: BsonDocument| doc! { "$sort": sort };
    let a_b = doc! { "a": 1, "b": 1 };
    let above = doc! { "$match": { "a": { "$gt": 4 } } };
    let cases = [
        (
            vec![group.clone()],
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            11,
        ),
        (vec![named], doc! { "a": 1 }, "DISTINCT_SCAN { a: 1 }", 11),
        (vec![group.clone()], doc! { "b": 1, "a": 1 }, "COLLSCAN", 0),
        (
            vec![above.clone(), group.clone()],
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            5,
        ),
        (
            vec![doc! { "$group": { "_id": "$t" } }],
            doc! { "t": 1 },
            "COLLSCAN",
            0,
        ),
        (
            vec![first.clone()],
            doc! { "a": 1 },
            "DISTINCT_SCAN { a: 1 }",
            11,
        ),
        (
            vec![by(a_b.clone()), first.clone()],
            a_b.clone(),
            "DISTINCT_SCAN { a: 1, b: 1 }",
            11,
        ),
        (
            vec![by(a_b.clone()), root],
            a_b.clone(),
            "DISTINCT_SCAN { a: 1, b: 1 }",
            11,
        ),
        (
            vec![by(doc! { "a": -1, "b": -1 }), first.clone()],
            a_b.clone(),
            "DISTINCT_SCAN { a: 1, b: 1 }",
            11,
        ),
        (
            vec![above, by(a_b.clone()), first.clone()],
            a_b.clone(),
            "DISTINCT_SCAN { a: 1, b: 1 }",
            5,
        ),
        (
            vec![by(doc! { "b": 1 }), first.clone()],
            doc! { "b": 1, "a": 1 },
            "IXSCAN { b: 1, a: 1 }",
            101,
        ),
        (vec![by(a_b.clone()), first], doc! { "a": 1 }, "COLLSCAN", 0),
        (
            vec![by(a_b.clone()), last],
            a_b.clone(),
            "IXSCAN { a: 1, b: 1 }",
            101,
        ),
        (
            vec![by(a_b.clone()), sum],
            a_b,
            "IXSCAN { a: 1, b: 1 }",
            101,
        ),
    ];
    for (pipeline, indexed, expected, keys) in cases {
        index(db, indexed.clone()).await;
        let shown = format!("{pipeline:?} by {indexed}");
        let aggregate = doc! { "aggregate": "c", "pipeline": pipeline, "cursor": {} };
        let found = plan(db, aggregate).await;
        assert_eq!(found, (expected.to_owned(), keys), "{shown}");
    }
}

async fn pipelines_read_only_the_fields_that_they_need(db: &Db) {
    fill(db).await;
    let all = doc! { "$match": { "a": { "$gte": 0 } } };
    let push = |value: Bson| doc! { "$group": { "_id": "$a", "p": { "$push": value } } };
    let group = |id: BsonDocument| doc! { "$group": { "_id": id, "n": { "$sum": 1 } } };
    let of = |path: &str| Bson::String(path.to_owned());
    let (a, a_b, a_e) = (
        doc! { "a": 1 },
        doc! { "a": 1, "b": 1 },
        doc! { "a": 1, "d.e": 1 },
    );
    let count = doc! { "$count": "n" };
    let (by_a, by_a_b, by_a_e) = (
        "IXSCAN { a: 1 }",
        "IXSCAN { a: 1, b: 1 }",
        "IXSCAN { a: 1, d.e: 1 }",
    );
    let cases = [
        (vec![all.clone(), push(of("$b"))], &a_b, by_a_b, 100, 0),
        (
            vec![all.clone(), push(of("$$CURRENT.b"))],
            &a_b,
            by_a_b,
            100,
            0,
        ),
        (vec![all.clone(), push(of("$b"))], &a, by_a, 100, 100),
        (
            vec![all.clone(), push(of("$$ROOT"))],
            &a_b,
            by_a_b,
            100,
            100,
        ),
        (
            vec![all.clone(), push(doc! { "x": "$b" }.into())],
            &a_b,
            by_a_b,
            100,
            0,
        ),
        (
            vec![all.clone(), push(doc! { "$getField": "b" }.into())],
            &a_b,
            by_a_b,
            100,
            100,
        ),
        (vec![all.clone(), push(of("$d.e"))], &a_e, by_a_e, 100, 0),
        (vec![all.clone(), push(of("$d"))], &a_e, by_a_e, 100, 100),
        (
            vec![all.clone(), group(doc! { "$type": "$b" })],
            &a_b,
            by_a_b,
            100,
            0,
        ),
        (
            vec![all.clone(), doc! { "$sortByCount": "$b" }],
            &a_b,
            by_a_b,
            100,
            0,
        ),
        (
            vec![all.clone(), count.clone()],
            &a,
            "COUNT_SCAN { a: 1 }",
            101,
            0,
        ),
        (
            vec![all, group(doc! {})],
            &a_b,
            "COUNT_SCAN { a: 1, b: 1 }",
            101,
            0,
        ),
        (vec![count], &a, "COLLSCAN", 0, 101),
    ];
    for (pipeline, indexed, expected, keys, documents) in cases {
        index(db, indexed.clone()).await;
        let shown = format!("{pipeline:?} by {indexed}");
        let aggregate = doc! { "aggregate": "c", "pipeline": pipeline, "cursor": {} };
        let found = examined(db, aggregate).await;
        assert_eq!(found, (expected.to_owned(), keys, documents), "{shown}");
    }
    // A missing field has the key null, which a pipeline that reads keys alone gets.
    insert(db, [doc! { "_id": 300, "a": 99 }]).await;
    index(db, a_b.clone()).await;
    for (hint, expected) in [(a_b, vec![Bson::Null]), (doc! { "$natural": 1 }, vec![])] {
        let pipeline = vec![doc! { "$match": { "a": 99 } }, push(of("$b"))];
        let command = doc! { "aggregate": "c", "pipeline": pipeline, "hint": hint, "cursor": {} };
        let reply = run(db, command).await;
        let cursor = reply.get_document("cursor").unwrap();
        let found = cursor.get_array("firstBatch").unwrap();
        assert_eq!(found[0], doc! { "_id": 99, "p": expected }.into());
    }
}

async fn values_keep_their_types_and_nulls(db: &Db) {
    let values: [Bson; 7] = [
        Bson::Double(1.0),
        Bson::Int32(1),
        Bson::String("x".to_owned()),
        Bson::Null,
        Bson::Array(vec![]),
        Bson::Array(vec![Bson::Int64(2), Bson::Int32(3)]),
        Bson::Document(doc! { "x": [1] }),
    ];
    let documents = (0..).zip(values).map(|(id, a)| doc! { "_id": id, "a": a });
    insert(db, documents.chain([doc! { "_id": 9 }])).await;
    index(db, doc! { "a": 1 }).await;
    let reply = run(db, doc! { "distinct": "c", "key": "a" }).await;
    // An empty array has the key undefined.
    let expected = [
        Bson::Undefined,
        Bson::Null,
        Bson::Double(1.0),
        Bson::Int64(2),
        Bson::Int32(3),
        Bson::String("x".to_owned()),
        Bson::Document(doc! { "x": [1] }),
    ];
    assert_eq!(reply.get_array("values").unwrap(), &expected);
}

fn value(random: &mut Random) -> Option<Bson> {
    Some(match random.below(12) {
        0 => return None,
        1 => Bson::Null,
        2 => Bson::String(["", "x", "y"][random.below(3)].to_owned()),
        3 => Bson::Double(0.5),
        _ => Bson::Int32(i32::try_from(random.below(4)).unwrap()),
    })
}

/// The results as a set, without the order of groups.
fn set(values: &[Bson]) -> BTreeSet<String> {
    values.iter().map(ToString::to_string).collect()
}

async fn an_index_answers_as_a_scan_does(db: &Db) {
    let mut random = Random::of(34);
    let mut distinct_scans = 0;
    for round in 0..40 {
        run(
            db,
            doc! { "delete": "c", "deletes": [{ "q": {}, "limit": 0 }] },
        )
        .await;
        let documents = (0..60).map(|id: i32| {
            let mut document = doc! { "_id": id };
            for name in ["a", "b"] {
                if let Some(value) = value(&mut random) {
                    document.insert(name, value);
                }
            }
            document
        });
        let documents: Vec<BsonDocument> = documents.collect();
        insert(db, documents).await;
        let way = |random: &mut Random| if random.below(2) == 0 { 1 } else { -1 };
        let (a, b) = (way(&mut random), way(&mut random));
        let key = match random.below(4) {
            0 => doc! { "a": a },
            1 => doc! { "b": b, "a": a },
            _ => doc! { "a": a, "b": b },
        };
        index(db, key.clone()).await;
        let filter = match random.below(5) {
            0 => doc! {},
            1 => doc! { "a": { "$gt": 1 } },
            2 => doc! { "b": 1 },
            3 => doc! { "a": { "$in": [0, 2, "x"] }, "b": { "$lte": 2 } },
            _ => doc! { "a": { "$gte": 0 }, "b": { "$in": [1, "y", 0.5] } },
        };
        let group = doc! { "$group": { "_id": "$a", "b": { "$first": "$b" } } };
        let sort = doc! { "$sort": { "a": a, "b": b } };
        for stages in [vec![sort, group], vec![doc! { "$group": { "_id": "$a" } }]] {
            let mut pipeline = vec![doc! { "$match": filter.clone() }];
            pipeline.extend(stages);
            let aggregate = |hint: BsonDocument| {
                doc! { "aggregate": "c", "pipeline": pipeline.clone(), "hint": hint,
                "cursor": { "batchSize": 1000 } }
            };
            let answer = async |hint: BsonDocument| {
                let reply = run(db, aggregate(hint)).await;
                let cursor = reply.get_document("cursor").unwrap();
                set(cursor.get_array("firstBatch").unwrap())
            };
            let context = format!("round {round}: {filter} by {key}: {pipeline:?}");
            let scanned = answer(doc! { "$natural": 1 }).await;
            assert_eq!(answer(key.clone()).await, scanned, "{context}");
            let (plan, _) = plan(db, aggregate(key.clone())).await;
            distinct_scans += u32::from(plan.starts_with("DISTINCT_SCAN"));
        }
        let distinct = doc! { "distinct": "c", "key": "a", "query": filter.clone() };
        let indexed = set(run(db, distinct.clone()).await.get_array("values").unwrap());
        run(db, doc! { "dropIndexes": "c", "index": "*" }).await;
        let mut scanned = set(run(db, distinct).await.get_array("values").unwrap());
        // Where an index gives the values, a missing one is null.
        if indexed.contains("null") {
            scanned.insert("null".to_owned());
        }
        assert_eq!(indexed, scanned, "round {round}: {filter} by {key}");
    }
    assert!(distinct_scans > 20, "{distinct_scans}");
}
