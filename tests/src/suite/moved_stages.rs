//! Filters, sorts and limits behind stages that do not change what they read: the documents are the same, and no more of them
//! are read than by a filter in front.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    filters_behind_stages_use_an_index,
    filters_of_what_a_stage_makes_stay,
    filters_behind_a_union_reach_both_sides,
    expressions_of_renamed_fields_move,
    comparisons_that_an_expression_implies_come_first,
    dropped_documents_are_not_computed,
    limits_stop_a_walk_of_keys,
    many_filters_are_one,
    filters_behind_a_limit_keep_their_order,
    random_filters_stay,
    explained_stages_have_one_form,
];

/// 300 documents, ten for each value of the indexed `a`.
async fn filled(db: &Db) {
    let documents: Vec<BsonDocument> = (0..300)
        .map(|id| doc! { "_id": id, "a": id % 30, "b": id, "l": [id, 1_000], "o": { "x": id } })
        .collect();
    db.run_command(doc! { "insert": "c", "documents": documents })
        .await
        .unwrap();
    let index = doc! { "key": { "a": 1 }, "name": "a_1" };
    db.run_command(doc! { "createIndexes": "c", "indexes": [index] })
        .await
        .unwrap();
}

fn aggregate(stages: Vec<BsonDocument>) -> BsonDocument {
    doc! { "aggregate": "c", "pipeline": stages, "cursor": {} }
}

/// A condition that fails is evaluated where it stands, unless the filter becomes that of a find.
async fn filters_behind_a_limit_keep_their_order(db: &Db) {
    filled(db).await;
    let fails = doc! { "$expr": { "$lt": [{ "$divide": [1, "$b"] }, 2] } };
    let spares = doc! { "b": { "$gt": 0 } };
    let (fails_first, spares_first) = (
        doc! { "$match": { "$and": [fails.clone(), spares.clone()] } },
        doc! { "$match": { "$and": [spares.clone(), fails.clone()] } },
    );
    let sort = doc! { "$sort": { "_id": 1 } };
    let limit = doc! { "$limit": 10 };
    let (fails, spares) = (doc! { "$match": fails }, doc! { "$match": spares });
    for (stages, found) in [
        (vec![fails_first.clone()], Some(299)),
        (vec![limit.clone(), fails_first], None),
        (vec![limit.clone(), spares_first], Some(9)),
        (vec![limit.clone(), fails.clone(), spares.clone()], None),
        (vec![limit, spares.clone(), fails.clone()], Some(9)),
        (vec![fails, spares], Some(299)),
    ] {
        let stages: Vec<_> = std::iter::once(sort.clone()).chain(stages).collect();
        let shown = Bson::from(stages.clone());
        let result = db.run_command(aggregate(stages)).all().await;
        let result = result
            .ok()
            .map(|documents: Vec<BsonDocument>| documents.len());
        assert_eq!(result, found, "{shown}");
    }
}

async fn run(db: &Db, stages: Vec<BsonDocument>) -> Vec<BsonDocument> {
    db.run_command(aggregate(stages)).all().await.unwrap()
}

/// How many documents the plan reads.
async fn examined(db: &Db, stages: Vec<BsonDocument>) -> i64 {
    counted(db, stages, "totalDocsExamined").await
}

/// A counter of the plan; mongod nests the statistics in a `$cursor`, if stages follow it.
async fn counted(db: &Db, stages: Vec<BsonDocument>, counter: &str) -> i64 {
    fn find(value: &Bson, counter: &str) -> Option<i64> {
        match value {
            Bson::Document(document) => document.iter().find_map(|(name, value)| match value {
                Bson::Int32(count) if name == counter => Some((*count).into()),
                Bson::Int64(count) if name == counter => Some(*count),
                value => find(value, counter),
            }),
            Bson::Array(values) => values.iter().find_map(|value| find(value, counter)),
            _ => None,
        }
    }
    let explain = doc! { "explain": aggregate(stages), "verbosity": "executionStats" };
    let reply = db.run_command(explain).await.unwrap();
    find(&reply.into(), counter).unwrap()
}

async fn limits_stop_a_walk_of_keys(db: &Db) {
    filled(db).await;
    let all = doc! { "$match": { "a": { "$gte": 0 } } };
    let sort = doc! { "$sort": { "a": 1 } };
    let limit = doc! { "$limit": 7 };
    let counts = doc! { "$group": { "_id": "$a", "n": { "$sum": 1 } } };
    let values = doc! { "$group": { "_id": "$a" } };
    for (stages, found) in [
        (
            vec![all, sort.clone(), limit.clone(), counts],
            doc! { "_id": 0, "n": 7 },
        ),
        (vec![sort, limit, values], doc! { "_id": 0 }),
    ] {
        assert_eq!(run(db, stages.clone()).await, [found]);
        assert_eq!(counted(db, stages, "totalKeysExamined").await, 7);
    }
}

async fn filters_behind_stages_use_an_index(db: &Db) {
    filled(db).await;
    let lookup = doc! { "from": "c", "localField": "b", "foreignField": "_id", "as": "found" };
    let seven = doc! { "a": 7 };
    let cases = [
        (
            doc! { "$addFields": { "z": { "$add": ["$b", 1] } } },
            seven.clone(),
            10,
        ),
        (doc! { "$project": { "a": 1 } }, seven.clone(), 10),
        (doc! { "$unset": "b" }, seven.clone(), 10),
        (doc! { "$project": { "z": "$a" } }, doc! { "z": 7 }, 10),
        (
            doc! { "$addFields": { "w.z": "$a" } },
            doc! { "w.z": 7 },
            10,
        ),
        (doc! { "$sort": { "b": -1 } }, seven.clone(), 10),
        (doc! { "$unwind": "$l" }, seven.clone(), 20),
        (doc! { "$lookup": lookup }, seven, 10),
        (
            doc! { "$group": { "_id": "$a", "n": { "$sum": 1 } } },
            doc! { "_id": 7 },
            1,
        ),
        (
            doc! { "$group": { "_id": { "k": "$a" }, "n": { "$sum": 1 } } },
            doc! { "_id.k": 7 },
            1,
        ),
    ];
    for (stage, filter, found) in cases {
        let stages = vec![stage.clone(), doc! { "$match": filter }];
        assert_eq!(run(db, stages.clone()).await.len(), found, "{stage}");
        // A mongod may answer the group by the index alone, and counts what a $lookup reads.
        assert!(examined(db, stages).await <= 20, "{stage}");
    }
}

async fn filters_of_what_a_stage_makes_stay(db: &Db) {
    filled(db).await;
    let cases = [
        (
            vec![
                doc! { "$addFields": { "a": 7 } },
                doc! { "$match": { "a": 7 } },
            ],
            300,
        ),
        (
            vec![
                doc! { "$project": { "b": 1 } },
                doc! { "$match": { "a": 7 } },
            ],
            0,
        ),
        (
            vec![doc! { "$unset": "a" }, doc! { "$match": { "a": null } }],
            300,
        ),
        (
            vec![doc! { "$unwind": "$l" }, doc! { "$match": { "l": 1_000 } }],
            300,
        ),
        (
            vec![
                doc! { "$unwind": { "path": "$l", "includeArrayIndex": "a" } },
                doc! { "$match": { "a": 1 } },
            ],
            300,
        ),
        (
            vec![
                doc! { "$group": { "_id": "$nope", "a": { "$first": "$a" } } },
                doc! { "$match": { "_id": { "$exists": true } } },
            ],
            1,
        ),
        (
            vec![
                doc! { "$group": { "_id": "$a", "n": { "$sum": 1 } } },
                doc! { "$match": { "_id": { "$lt": 3 }, "n": 10 } },
            ],
            3,
        ),
        (
            vec![
                doc! { "$sort": { "b": 1 } },
                doc! { "$limit": 5 },
                doc! { "$match": { "a": 7 } },
            ],
            0,
        ),
        (
            vec![
                doc! { "$count": "n" },
                doc! { "$match": { "$expr": { "$gt": ["$n", 1] } } },
            ],
            1,
        ),
        (
            vec![
                doc! { "$facet": { "all": [] } },
                doc! { "$match": { "$expr": false } },
            ],
            0,
        ),
        (
            vec![
                doc! { "$replaceWith": "$o" },
                doc! { "$match": { "x": { "$lt": 4 } } },
            ],
            4,
        ),
    ];
    for (stages, found) in cases {
        let shown = format!("{stages:?}");
        assert_eq!(run(db, stages).await.len(), found, "{shown}");
    }
    // The first documents of a sort, whose skip and limit stand behind a projection.
    let stages = vec![
        doc! { "$sort": { "b": -1 } },
        doc! { "$project": { "b": 1 } },
        doc! { "$skip": 2 },
        doc! { "$limit": 2 },
    ];
    let expected = [doc! { "_id": 297, "b": 297 }, doc! { "_id": 296, "b": 296 }];
    assert_eq!(run(db, stages).await, expected);
}

async fn dropped_documents_are_not_computed(db: &Db) {
    filled(db).await;
    // Of the document 0, the expression fails.
    let divide = doc! { "$addFields": { "q": { "$divide": [1, "$b"] } } };
    let failed = db.run_command(aggregate(vec![divide.clone()])).all().await;
    assert_eq!(failed.unwrap_err().code().unwrap().number(), 2);
    let filtered = vec![divide.clone(), doc! { "$match": { "a": 1 } }];
    assert_eq!(run(db, filtered).await.len(), 10);
    let sorted = doc! { "$sort": { "_id": -1 } };
    let first = vec![sorted, divide, doc! { "$limit": 3 }];
    assert_eq!(run(db, first).await.len(), 3);
}

async fn filters_behind_a_union_reach_both_sides(db: &Db) {
    filled(db).await;
    let seven = doc! { "$match": { "a": 7 } };
    let union =
        |stages: Vec<BsonDocument>| doc! { "$unionWith": { "coll": "c", "pipeline": stages } };
    let stages = vec![union(vec![]), seven.clone()];
    assert_eq!(run(db, stages.clone()).await.len(), 20);
    assert_eq!(examined(db, stages).await, 10);
    // Of the document 0, the expression fails.
    let divide = doc! { "$set": { "q": { "$divide": [1, "$b"] } } };
    let stages = vec![union(vec![divide.clone()]), seven];
    assert_eq!(run(db, stages).await.len(), 20);
    let nested = vec![
        union(vec![union(vec![divide.clone()]), divide.clone()]),
        doc! { "$match": { "b": { "$in": [1, 2] } } },
    ];
    assert_eq!(run(db, nested).await.len(), 6);
    let computed = vec![
        union(vec![divide.clone()]),
        doc! { "$match": { "q": { "$gte": 0.5 } } },
    ];
    let failed = db.run_command(aggregate(computed)).all().await;
    assert_eq!(failed.unwrap_err().code().unwrap().number(), 2);
    // A filter behind a limit is one of the documents of both sides together.
    let limited = vec![
        union(vec![doc! { "$sort": { "b": 1 } }, doc! { "$limit": 5 }]),
        doc! { "$match": { "b": { "$lt": 8 } } },
    ];
    assert_eq!(run(db, limited).await.len(), 13);
}

async fn expressions_of_renamed_fields_move(db: &Db) {
    filled(db).await;
    let group = doc! { "$group": { "_id": "$a", "q": { "$max": { "$divide": [1, "$b"] } } } };
    let of_key = doc! { "$match": { "$expr": { "$eq": [{ "$add": ["$_id", 1] }, 8] } } };
    let found = [doc! { "_id": 7, "q": 1.0 / 7.0 }];
    // The document 0, for which the expression fails, is in another group.
    assert_eq!(run(db, vec![group.clone(), of_key]).await, found);
    let renamed = vec![
        group,
        doc! { "$project": { "k": "$_id", "q": 1 } },
        doc! { "$match": { "$expr": { "$and": [{ "$eq": ["$k", 7] }, { "$gte": ["$$ROOT.k", 0] }] } } },
    ];
    assert_eq!(
        run(db, renamed).await,
        [doc! { "_id": 7, "q": 1.0 / 7.0, "k": 7 }]
    );
    let whole = doc! { "$group": { "_id": { "k": "$a" }, "n": { "$sum": 1 } } };
    for (condition, groups) in [
        (doc! { "$eq": ["$_id.k", 7] }, 1),
        (doc! { "$eq": ["$_id", { "k": 7 }] }, 1),
        (
            doc! { "$let": { "vars": { "CURRENT": { "_id": { "k": 7 } } }, "in": { "$eq": ["$_id.k", 7] } } },
            30,
        ),
        (
            doc! { "$let": { "vars": { "k": "$_id.k" }, "in": { "$lt": ["$$k", 5] } } },
            5,
        ),
        (
            doc! { "$in": ["$_id.k", { "$map": { "input": [1, 2], "as": "k", "in": { "$add": ["$$k", 1] } } }] },
            2,
        ),
    ] {
        let stages = vec![
            whole.clone(),
            doc! { "$match": { "$expr": condition.clone() } },
        ];
        assert_eq!(run(db, stages).await.len(), groups, "{condition}");
    }
    // MongoDB takes the key of a group for the field, which is missing in these documents, and not null.
    db.run_command(doc! { "insert": "c", "documents": [{ "_id": -1, "a": null }, { "_id": -2 }] })
        .await
        .unwrap();
    let count = doc! { "$group": { "_id": "$a", "n": { "$sum": 1 } } };
    for (condition, n) in [
        (doc! { "$eq": ["$_id", null] }, 1),
        (doc! { "$lte": ["$_id", null] }, 2),
    ] {
        let stages = vec![count.clone(), doc! { "$match": { "$expr": condition } }];
        assert_eq!(run(db, stages).await, [doc! { "_id": null, "n": n }]);
    }
}

async fn comparisons_that_an_expression_implies_come_first(db: &Db) {
    let document = doc! { "_id": 1, "b": 0, "c": 2, "d": 1, "e": 2 };
    db.run_command(doc! { "insert": "c", "documents": [document] })
        .await
        .unwrap();
    // A stage that no filter can pass.
    let set = doc! { "$set": { "b": { "$abs": "$b" }, "c": { "$abs": "$c" }, "d": { "$abs": "$d" }, "e": { "$abs": "$e" } } };
    let fails = doc! { "$gt": [{ "$divide": [1, "$b"] }, 0] };
    let is = |field: &str| doc! { "$eq": [format!("${field}"), 1] };
    let expr = |condition: BsonDocument| doc! { "$expr": condition };
    let both = |one: BsonDocument, other: BsonDocument| doc! { "$and": [one, other] };
    for (filter, spares) in [
        (expr(both(fails.clone(), is("c"))), true),
        (expr(both(is("c"), fails.clone())), true),
        (both(expr(fails.clone()), doc! { "c": 1 }), false),
        (
            both(both(expr(fails.clone()), doc! { "d": 1 }), doc! { "c": 1 }),
            true,
        ),
        (
            both(expr(both(is("d"), is("e"))), expr(fails.clone())),
            false,
        ),
        (
            expr(doc! { "$and": [fails.clone(), is("c"), is("e")] }),
            false,
        ),
        (
            expr(doc! { "$and": [fails.clone(), { "$or": [is("c"), is("e")] }] }),
            true,
        ),
    ] {
        let stages = vec![set.clone(), doc! { "$match": filter.clone() }];
        let found = db.run_command(aggregate(stages)).await;
        assert_eq!(found.is_ok(), spares, "{filter}");
    }
    let filter = doc! { "$match": { "$expr": both(is("c"), is("d")), "b": 1 } };
    let explain = doc! { "explain": aggregate(vec![set, filter]), "verbosity": "queryPlanner" };
    let reply = db.run_command(explain).await.unwrap();
    let shown = reply.get_array("stages").unwrap().last().unwrap();
    let shown = shown.as_document().unwrap().get_document("$match").unwrap();
    let conditions = shown.get_array("$and").unwrap().iter();
    let names: Vec<&str> = conditions
        .flat_map(|condition| condition.as_document().unwrap().keys())
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["b", "$expr", "c", "d"]);
}

async fn many_filters_are_one(db: &Db) {
    filled(db).await;
    let stages = (0..200).map(|least| doc! { "$match": { "b": { "$gte": least } } });
    assert_eq!(run(db, stages.collect()).await.len(), 101);
}

async fn random_filters_stay(db: &Db) {
    filled(db).await;
    let random = doc! { "$match": { "$expr": { "$lt": [{ "$rand": {} }, 0.5] } } };
    let group = doc! { "$group": { "_id": "$a", "n": { "$sum": 1 } } };
    // Whole groups, not groups of some documents.
    for found in run(db, vec![group, random]).await {
        assert_eq!(found.get_i32("n").unwrap(), 10);
    }
}

async fn explained_stages_have_one_form(db: &Db) {
    filled(db).await;
    let stages = vec![
        doc! { "$unwind": "$l" },
        doc! { "$match": { "l": { "$gt": 100 }, "a": 7 } },
        doc! { "$sort": { "l": 1 } },
        doc! { "$skip": 1 },
        doc! { "$limit": 2 },
        doc! { "$unset": "o" },
    ];
    let explain = doc! { "explain": aggregate(stages), "verbosity": "queryPlanner" };
    let reply = db.run_command(explain).await.unwrap();
    let shown = reply.get_array("stages").unwrap();
    let query = shown[0]
        .as_document()
        .unwrap()
        .get_document("$cursor")
        .unwrap();
    let planner = query.get_document("queryPlanner").unwrap();
    let filter = planner.get_document("parsedQuery").unwrap();
    assert_eq!(*filter, doc! { "a": { "$eq": 7 } });
    let behind = [
        doc! { "$unwind": { "path": "$l" } },
        doc! { "$match": { "l": { "$gt": 100 } } },
        doc! { "$sort": { "sortKey": { "l": 1 }, "limit": 3_i64 } },
        doc! { "$skip": 1_i64 },
        doc! { "$project": { "o": false, "_id": true } },
    ];
    assert_eq!(shown[1..], behind.map(Bson::Document));
}
