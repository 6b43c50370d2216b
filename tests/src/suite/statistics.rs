//! Statistics of collections: `$collStats`, `$indexStats`.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    uses_of_indexes_are_counted,
    collection_statistics_have_sections,
    whole_reads_are_counted,
    statistics_of_views_and_missing_collections,
    invalid_statistics_requests_are_refused,
];

async fn filled(db: &Db) {
    let documents: Vec<Bson> = (0..10)
        .map(|id| doc! { "_id": id, "a": id, "b": id }.into())
        .collect();
    let key = |name: &str| doc! { "key": { name: 1 }, "name": name };
    for command in [
        doc! { "insert": "c", "documents": documents },
        doc! { "createIndexes": "c", "indexes": [key("a"), key("b")] },
        doc! { "create": "v", "viewOn": "c", "pipeline": [] },
    ] {
        db.run_command(command).await.unwrap();
    }
}

async fn aggregate(
    db: &Db,
    target: impl Into<Bson>,
    stages: Vec<BsonDocument>,
) -> odm::Result<Vec<BsonDocument>> {
    let command = doc! { "aggregate": target.into(), "pipeline": stages, "cursor": {} };
    db.run_command(command).all().await
}

/// How often the indexes `_id_`, `a` and `b` were used.
async fn uses(db: &Db) -> [i64; 3] {
    let told = aggregate(db, "c", vec![doc! { "$indexStats": {} }])
        .await
        .unwrap();
    ["_id_", "a", "b"].map(|name| {
        let index = told
            .iter()
            .find(|it| it.get_str("name").is_ok_and(|it| it == name));
        let accesses = index.unwrap().get_document("accesses").unwrap();
        accesses.get_i64("ops").unwrap()
    })
}

async fn uses_of_indexes_are_counted(db: &Db) {
    filled(db).await;
    let find = |filter| doc! { "find": "c", "filter": filter };
    let update = |filter| doc! { "update": "c", "updates": [{ "q": filter, "u": { "$set": { "z": 1 } }, "multi": true }] };
    for (command, used) in [
        (find(doc! { "_id": 1 }), [1, 0, 0]),
        (find(doc! { "_id": { "$in": [1, 2] } }), [1, 0, 0]),
        (find(doc! { "_id": 77 }), [1, 0, 0]),
        (find(doc! { "a": 1 }), [0, 1, 0]),
        (find(doc! { "a": { "$in": [1, 2] } }), [0, 1, 0]),
        (find(doc! { "a": { "$gt": 3 } }), [0, 1, 0]),
        (find(doc! { "$or": [{ "a": 1 }, { "b": 1 }] }), [0, 1, 1]),
        (
            find(doc! { "$or": [{ "a": 1 }, { "a": { "$gt": 8 } }] }),
            [0, 1, 0],
        ),
        (find(doc! { "z": 1 }), [0, 0, 0]),
        (doc! { "find": "c", "sort": { "b": 1 } }, [0, 0, 1]),
        (doc! { "find": "c", "hint": "b" }, [0, 0, 1]),
        (
            doc! { "explain": find(doc! { "a": 1 }), "verbosity": "executionStats" },
            [0, 0, 0],
        ),
        (update(doc! { "_id": 1 }), [1, 0, 0]),
        (update(doc! { "a": { "$lt": 3 } }), [0, 1, 0]),
        (update(doc! { "z": 5 }), [0, 0, 0]),
        (
            doc! { "delete": "c", "deletes": [{ "q": { "_id": 9 }, "limit": 1 }] },
            [1, 0, 0],
        ),
        (
            doc! { "delete": "c", "deletes": [{ "q": { "b": 8 }, "limit": 1 }] },
            [0, 0, 1],
        ),
        (
            doc! { "insert": "c", "documents": [{ "_id": 20 }] },
            [0, 0, 0],
        ),
        (
            doc! { "findAndModify": "c", "query": { "_id": 1 }, "update": { "$set": { "z": 2 } } },
            [1, 0, 0],
        ),
        (doc! { "count": "c", "query": { "a": 1 } }, [0, 1, 0]),
        (doc! { "count": "c" }, [0, 0, 0]),
        (
            doc! { "distinct": "c", "key": "a", "query": { "b": 1 } },
            [0, 0, 1],
        ),
        (
            doc! { "aggregate": "c", "pipeline": [{ "$match": { "a": 1 } }], "cursor": {} },
            [0, 1, 0],
        ),
        (doc! { "validate": "c" }, [0, 0, 0]),
    ] {
        let before = uses(db).await;
        db.run_command(command.clone()).await.unwrap();
        let after = uses(db).await;
        let grown = [0, 1, 2].map(|at: usize| after[at] - before[at]);
        assert_eq!(grown, used, "{command}");
    }
    // The counter of a changed index restarts.
    for hidden in [true, false] {
        let hide = doc! { "collMod": "c", "index": { "name": "a", "hidden": hidden } };
        db.run_command(hide).await.unwrap();
    }
    assert_eq!(uses(db).await[1], 0);
    let told = aggregate(db, "v", vec![doc! { "$indexStats": {} }])
        .await
        .unwrap();
    assert_eq!(told.len(), 3);
    for index in told {
        let spec = index.get_document("spec").unwrap();
        assert_eq!(spec.get("key"), index.get("key"));
        let accesses = index.get_document("accesses").unwrap();
        assert!(accesses.get_datetime("since").unwrap().timestamp_millis() > 0);
    }
}

async fn collection_statistics_have_sections(db: &Db) {
    filled(db).await;
    let stats = |parts: BsonDocument| async {
        let told = aggregate(db, "c", vec![doc! { "$collStats": parts }]).await;
        told.unwrap().remove(0)
    };
    let none = stats(doc! {}).await;
    assert!(none.get_str("ns").unwrap().ends_with('c'));
    assert!(none.get_datetime("localTime").is_ok());
    assert!(!none.contains_key("count") && !none.contains_key("storageStats"));
    let all =
        stats(doc! { "count": {}, "storageStats": { "scale": 2 }, "queryExecStats": {} }).await;
    assert_eq!(all.get_i32("count").unwrap(), 10);
    let storage = all.get_document("storageStats").unwrap();
    for (name, value) in [("count", 10), ("nindexes", 3), ("scaleFactor", 2)] {
        assert_eq!(storage.get_i32(name).unwrap(), value, "{name}");
    }
    let size = storage.get_i32("size").unwrap();
    let whole = stats(doc! { "storageStats": {} }).await;
    let whole = whole.get_document("storageStats").unwrap();
    assert_eq!(whole.get_i32("size").unwrap() / 2, size);
    assert_eq!(whole.get_document("indexSizes").unwrap().len(), 3);
    let nothing = stats(doc! { "count": null, "storageStats": null }).await;
    assert_eq!(nothing.len(), none.len());
    // The same within pipelines of other stages.
    let counts = doc! { "$collStats": { "count": {} } };
    let lookup = doc! { "$lookup": { "from": "c", "pipeline": [counts.clone()], "as": "told" } };
    let joined = aggregate(db, "c", vec![doc! { "$limit": 1 }, lookup]).await;
    let joined = joined.unwrap().remove(0);
    let told = joined.get_array("told").unwrap();
    let told = told.first().and_then(Bson::as_document).unwrap();
    assert_eq!(told.get_i32("count").unwrap(), 10);
    let union = doc! { "$unionWith": { "coll": "c", "pipeline": [counts, { "$project": { "count": 1 } }] } };
    let joined = aggregate(db, "c", vec![doc! { "$skip": 10 }, union]).await;
    assert_eq!(joined.unwrap(), [doc! { "count": 10 }]);
}

async fn whole_reads_are_counted(db: &Db) {
    db.run_command(doc! { "create": "c", "capped": true, "size": 1000 })
        .await
        .unwrap();
    db.run_command(doc! { "insert": "c", "documents": [{ "_id": 1 }] })
        .await
        .unwrap();
    let scans = || async {
        let stage = doc! { "$collStats": { "queryExecStats": {} } };
        let told = aggregate(db, "c", vec![stage]).await.unwrap().remove(0);
        let told = told.get_document("queryExecStats").unwrap();
        let told = told.get_document("collectionScans").unwrap();
        ["total", "nonTailable"].map(|name| told.get_i64(name).unwrap())
    };
    assert_eq!(scans().await, [0, 0]);
    for (command, told) in [
        (doc! { "find": "c" }, [1, 1]),
        (doc! { "find": "c", "filter": { "_id": 1 } }, [1, 1]),
        (doc! { "find": "c", "tailable": true }, [2, 1]),
        (doc! { "count": "c", "query": { "a": 1 } }, [3, 2]),
    ] {
        db.run_command(command.clone()).await.unwrap();
        assert_eq!(scans().await, told, "{command}");
    }
}

async fn statistics_of_views_and_missing_collections(db: &Db) {
    filled(db).await;
    let indexes = || vec![doc! { "$indexStats": {} }];
    assert!(
        aggregate(db, "nothing", indexes())
            .await
            .unwrap()
            .is_empty()
    );
    for target in ["v", "nothing"] {
        let told = aggregate(db, target, vec![doc! { "$collStats": {} }]).await;
        let told = told.unwrap().remove(0);
        assert!(told.get_str("ns").unwrap().ends_with(target));
        for part in ["count", "storageStats", "queryExecStats"] {
            let stage = doc! { "$collStats": { part: {} } };
            let refused = aggregate(db, target, vec![stage]).await.unwrap_err();
            let (code, words) = match target {
                "v" => (166, "is a view, not a collection"),
                _ => (
                    26,
                    "PlanExecutor error during aggregation :: caused by :: Unable to retrieve",
                ),
            };
            assert_eq!(refused.code().unwrap().number(), code, "{target} {part}");
            assert!(refused.to_string().contains(words), "{refused}");
        }
    }
    // A view that returns statistics of its collection.
    let told = doc! { "$collStats": { "count": {} } };
    db.run_command(doc! { "create": "told", "viewOn": "c", "pipeline": [told] })
        .await
        .unwrap();
    let told = aggregate(db, "told", Vec::new()).await.unwrap().remove(0);
    assert_eq!(told.get_i32("count").unwrap(), 10);
    assert!(told.get_str("ns").unwrap().ends_with('c'));
}

async fn invalid_statistics_requests_are_refused(db: &Db) {
    filled(db).await;
    let of = |value: Bson| vec![doc! { "$collStats": value }];
    let part = |name: &str, value: Bson| vec![doc! { "$collStats": { name: value } }];
    let some = || Bson::from(doc! { "x": 1 });
    for (stages, code) in [
        (of(1.into()), 5_447_000),
        (of(Bson::Null), 5_447_000),
        (of(some()), 40415),
        (part("count", 1.into()), 14),
        (part("count", some()), 31170),
        (part("queryExecStats", some()), 31170),
        (part("latencyStats", 1.into()), 14),
        (part("latencyStats", some()), 40415),
        (part("latencyStats", doc! { "histograms": 1 }.into()), 14),
        (part("storageStats", doc! { "scale": 0 }.into()), 51024),
        (part("storageStats", doc! { "scale": "a" }.into()), 14),
        (vec![doc! { "$indexStats": 1 }], 28803),
        (vec![doc! { "$indexStats": { "x": 1 } }], 28803),
        (
            vec![doc! { "$match": {} }, doc! { "$indexStats": {} }],
            40602,
        ),
        (
            vec![doc! { "$match": {} }, doc! { "$collStats": {} }],
            40602,
        ),
        (
            vec![doc! { "$facet": { "x": [{ "$indexStats": {} }] } }],
            40600,
        ),
    ] {
        let refused = aggregate(db, "c", stages.clone()).await.unwrap_err();
        assert_eq!(refused.code().unwrap().number(), code, "{stages:?}");
    }
    for stage in [doc! { "$collStats": {} }, doc! { "$indexStats": {} }] {
        let refused = aggregate(db, 1, vec![stage]).await.unwrap_err();
        assert_eq!(refused.code().unwrap().number(), 73);
    }
}
