//! Cursors of aggregations run their pipeline as batches need documents.

use std::time::{Duration, Instant};

use futures::TryStreamExt;
use odm::bson::{Bson, Document as BsonDocument};
use odm::prelude::*;

use crate::case::cases;

cases![
    errors_come_with_the_batch_that_reaches_them,
    errors_of_plans_come_first,
    a_dropped_collection_ends_its_cursors,
    views_stream_as_their_pipelines_do,
    pipelines_without_end_return_documents,
    the_time_limit_covers_later_batches,
    idle_time_does_not_count,
    each_batch_counts_what_it_reads,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "c")]
struct Number {
    #[serde(rename = "_id")]
    id: i32,
}

async fn filled(db: &Db, count: i32) {
    let documents: Vec<Bson> = (0..count)
        .map(|id| doc! { "_id": id, "v": 30 - id, "a": [id] }.into())
        .collect();
    let insert = doc! { "insert": "c", "documents": documents };
    db.run_command(insert).await.unwrap();
}

/// The number of documents of a batch and the cursor's id, or the code of the error and the first words of its message.
type Batch = Result<(usize, i64), (i32, String)>;

async fn batch(db: &Db, command: BsonDocument) -> Batch {
    match db.run_command(command).await {
        Ok(reply) => {
            let cursor = reply.get_document("cursor").unwrap();
            let batch = ["firstBatch", "nextBatch"].map(|name| cursor.get_array(name));
            let batch = batch.into_iter().find_map(Result::ok).unwrap();
            Ok((batch.len(), cursor.get_i64("id").unwrap()))
        }
        Err(error) => {
            let code = error.code().unwrap().number();
            let message = error.server().unwrap().message();
            let words = message.split(" :: ").next().unwrap_or_default();
            Err((code, words.to_owned()))
        }
    }
}

async fn first(db: &Db, stages: &[BsonDocument], size: Option<i32>) -> Batch {
    let mut cursor = BsonDocument::new();
    cursor.extend(size.map(|size| ("batchSize".to_owned(), size.into())));
    // The hint also fixes the order of the documents.
    let aggregate = doc! {
        "aggregate": "c", "pipeline": stages, "cursor": cursor, "hint": { "$natural": 1 },
    };
    batch(db, aggregate).await
}

async fn next(db: &Db, collection: &str, id: i64, size: i32) -> Batch {
    let more = doc! { "getMore": id, "collection": collection, "batchSize": size };
    batch(db, more).await
}

const FIRST: &str = "PlanExecutor error during aggregation";
const LATER: &str = "Executor error during getMore";

/// Fails at the document with the `_id` 30.
fn failing() -> BsonDocument {
    doc! { "$addFields": { "x": { "$divide": [1, "$v"] } } }
}

async fn errors_come_with_the_batch_that_reaches_them(db: &Db) {
    filled(db, 50).await;
    let joined =
        doc! { "$lookup": { "from": "c", "localField": "_id", "foreignField": "_id", "as": "x" } };
    let streaming = [
        vec![failing()],
        vec![doc! { "$match": { "_id": { "$gte": 0 } } }, failing()],
        vec![failing(), doc! { "$match": { "x": { "$ne": 7 } } }],
        vec![doc! { "$unwind": "$a" }, failing()],
        vec![joined, doc! { "$unwind": "$x" }, failing()],
        vec![failing(), doc! { "$skip": 0 }, doc! { "$limit": 40 }],
    ];
    for stages in &streaming {
        for (size, more) in [
            (Some(0), 7),
            (Some(1), 1),
            (Some(7), 10),
            (Some(30), 1),
            (Some(31), 1),
            (None, 1),
        ] {
            let mut passed = 0;
            let mut reply = first(db, stages, size).await;
            let mut prefix = FIRST;
            while let Ok((count, id)) = reply {
                passed += count;
                assert_ne!(id, 0, "{stages:?} ended in batches of {size:?} and {more}");
                reply = next(db, "c", id, more).await;
                prefix = LATER;
            }
            assert_eq!(reply, Err((2, prefix.to_owned())), "{stages:?}");
            let before = usize::try_from(size.unwrap_or(101)).unwrap();
            let whole = if before > 30 { 0 } else { before };
            let more = usize::try_from(more).unwrap();
            let expected = if before > 30 {
                0
            } else {
                whole + (30 - whole) / more * more
            };
            assert_eq!(
                passed, expected,
                "{stages:?} in batches of {size:?} and {more}"
            );
        }
    }
    // These read everything for their first document.
    let blocking = [
        vec![failing(), doc! { "$sort": { "x": 1 } }],
        vec![doc! { "$facet": { "all": [failing()] } }],
        vec![
            failing(),
            doc! { "$bucketAuto": { "groupBy": "$x", "buckets": 2 } },
        ],
        vec![failing(), doc! { "$count": "n" }],
    ];
    for stages in &blocking {
        let failed = |prefix: &str| Err((2, prefix.to_owned()));
        assert_eq!(
            first(db, stages, Some(1)).await,
            failed(FIRST),
            "{stages:?}"
        );
        let (count, id) = first(db, stages, Some(0)).await.unwrap();
        assert_eq!(count, 0);
        assert_eq!(next(db, "c", id, 1).await, failed(LATER), "{stages:?}");
        // An error ends the cursor.
        assert_eq!(next(db, "c", id, 1).await.unwrap_err().0, 43);
    }
}

async fn errors_of_plans_come_first(db: &Db) {
    filled(db, 3).await;
    let near = doc! { "$geoNear": { "near": [1, 1], "distanceField": "d" } };
    for (stages, code) in [
        (vec![doc! { "$project": { "x": { "$divide": [1, 0] } } }], 2),
        (vec![near], 27),
        (vec![doc! { "$match": { "$text": { "$search": "a" } } }], 27),
        (vec![doc! { "$unwind": "a" }], 28818),
    ] {
        let aggregate =
            doc! { "aggregate": "c", "pipeline": &stages, "cursor": { "batchSize": 0 } };
        let error = batch(db, aggregate).await.unwrap_err();
        assert_eq!(error.0, code, "{stages:?}");
    }
    let hinted =
        doc! { "aggregate": "c", "pipeline": [], "cursor": { "batchSize": 0 }, "hint": "x" };
    assert_eq!(batch(db, hinted).await.unwrap_err().0, 2);
}

/// A query fails at once. A pipeline first returns what it read ahead, unless it has not begun to read.
async fn a_dropped_collection_ends_its_cursors(db: &Db) {
    let dropped = "collection dropped.";
    let pipelines = [
        (vec![], true),
        (vec![doc! { "$match": { "v": { "$lt": 50 } } }], true),
        (vec![doc! { "$sort": { "v": 1 } }], true),
        (vec![doc! { "$project": { "v": 1 } }], true),
        (vec![doc! { "$addFields": { "y": 1 } }], false),
        (vec![doc! { "$unwind": "$a" }], false),
    ];
    for (stages, is_query) in &pipelines {
        for size in [0, 2] {
            filled(db, 20).await;
            let (count, id) = first(db, stages, Some(size)).await.unwrap();
            assert_eq!(i32::try_from(count), Ok(size));
            db.run_command(doc! { "drop": "c" }).await.unwrap();
            let reply = next(db, "c", id, 5).await;
            let context = format!("{stages:?} in batches of {size}");
            match (*is_query, size) {
                (true, _) => {
                    let (code, message) = reply.unwrap_err();
                    assert_eq!(code, 175, "{context}");
                    assert!(message.starts_with(dropped), "{context}: {message}");
                }
                (false, 0) => assert_eq!(reply, Err((175, LATER.to_owned())), "{context}"),
                (false, _) => assert_eq!(reply.unwrap().0, 5, "{context}"),
            }
        }
    }
}

async fn views_stream_as_their_pipelines_do(db: &Db) {
    filled(db, 50).await;
    let view = doc! { "create": "halves", "viewOn": "c", "pipeline": [failing()] };
    db.run_command(view).await.unwrap();
    let find = doc! { "find": "halves", "batchSize": 20, "sort": { "$natural": 1 } };
    let (count, id) = batch(db, find).await.unwrap();
    assert_eq!(count, 20);
    let (count, id) = next(db, "halves", id, 10).await.unwrap();
    assert_eq!(count, 10);
    assert_eq!(next(db, "halves", id, 1).await, Err((2, LATER.to_owned())));
    // These read all documents of the view.
    for command in [
        doc! { "count": "halves", "query": { "x": 1 } },
        doc! { "distinct": "halves", "key": "x" },
    ] {
        let error = db.run_command(command).await.unwrap_err();
        assert_eq!(error.code().unwrap().number(), 2);
        assert!(error.server().unwrap().message().starts_with(FIRST));
    }
    let unread = doc! { "find": "halves", "batchSize": 0 };
    let (_, id) = batch(db, unread).await.unwrap();
    db.run_command(doc! { "drop": "c" }).await.unwrap();
    assert_eq!(next(db, "halves", id, 1).await.unwrap_err().0, 175);
}

/// Each document joined with all documents, five times: 10^10 rows of a hundred documents.
fn endless() -> Vec<BsonDocument> {
    let all = doc! { "$lookup": { "from": "c", "pipeline": [{ "$project": { "_id": 1 } }], "as": "all" } };
    (0..4)
        .flat_map(|_| [all.clone(), doc! { "$unwind": "$all" }])
        .collect()
}

async fn pipelines_without_end_return_documents(db: &Db) {
    filled(db, 100).await;
    let began = Instant::now();
    let mut rows = db
        .collection::<Number>()
        .aggregate(endless())
        .await
        .unwrap();
    for _ in 0..250 {
        assert!(rows.try_next().await.unwrap().is_some());
    }
    drop(rows);
    assert!(began.elapsed() < Duration::from_secs(20));
}

async fn the_time_limit_covers_later_batches(db: &Db) {
    filled(db, 100).await;
    let mut stages = endless();
    stages.push(doc! { "$match": { "$expr": { "$gt": ["$all._id", 1_000] } } });
    let aggregate = doc! {
        "aggregate": "c", "pipeline": stages, "cursor": { "batchSize": 0 }, "maxTimeMS": 300,
    };
    let (_, id) = batch(db, aggregate).await.unwrap();
    assert_eq!(next(db, "c", id, 1).await, Err((50, LATER.to_owned())));
}

async fn idle_time_does_not_count(db: &Db) {
    filled(db, 20).await;
    let aggregate = doc! {
        "aggregate": "c", "pipeline": [{ "$addFields": { "y": 1 } }, { "$unwind": "$a" }],
        "cursor": { "batchSize": 2 }, "maxTimeMS": 400,
    };
    let (_, mut id) = batch(db, aggregate).await.unwrap();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        id = next(db, "c", id, 2).await.unwrap().1;
    }
}

async fn each_batch_counts_what_it_reads(db: &Db) {
    filled(db, 20).await;
    db.run_command(doc! { "profile": 2 }).await.unwrap();
    let lookup =
        doc! { "$lookup": { "from": "c", "localField": "_id", "foreignField": "_id", "as": "x" } };
    for stages in [
        vec![doc! { "$match": { "v": { "$lt": 50 } } }],
        vec![lookup],
    ] {
        let (_, id) = first(db, &stages, Some(2)).await.unwrap();
        next(db, "c", id, 5).await.unwrap();
        let kill = doc! { "killCursors": "c", "cursors": [id] };
        db.run_command(kill).await.unwrap();
    }
    db.run_command(doc! { "profile": 0 }).await.unwrap();
    let entries = doc! {
        "find": "system.profile", "filter": { "docsExamined": { "$exists": true }, "nreturned": { "$gt": 1 } },
        "sort": { "$natural": 1 },
    };
    let entries = db.run_command(entries).all().await.unwrap();
    let examined: Vec<_> = entries
        .iter()
        .map(|entry| entry.get_i32("docsExamined").unwrap())
        .collect();
    assert_eq!(examined, [2, 5, 4, 10]);
}
