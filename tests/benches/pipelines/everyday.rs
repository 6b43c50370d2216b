//! Commands of everyday work: finds, aggregations and writes. Each can be repeated.

use mongodb::bson::{Document, doc};

use super::{USERS, pipeline};

pub(super) fn rows() -> Vec<(&'static str, Document)> {
    [finds(), aggregations(), writes()].concat()
}

fn find(collection: &str, filter: Document, options: Document) -> Document {
    let mut find = doc! { "find": collection, "filter": filter, "batchSize": 1_000_000 };
    find.extend(options);
    find
}

fn finds() -> Vec<(&'static str, Document)> {
    let events = |filter| find("events", filter, doc! {});
    let films = |filter| find("films", filter, doc! {});
    let ids: Vec<i32> = (0..100).map(|at| at * 997).collect();
    vec![
        ("find by id", films(doc! { "_id": 777 })),
        (
            "equality on an index, 100 documents",
            events(doc! { "user": 7 }),
        ),
        (
            "range of an index, sorted, 100 documents",
            find(
                "events",
                doc! { "kind": "kind 3", "value": { "$gte": 500 } },
                doc! { "sort": { "value": 1 }, "limit": 100 },
            ),
        ),
        ("$in of 100 ids", events(doc! { "_id": { "$in": ids } })),
        (
            "sort by an index, limit 20",
            find(
                "films",
                doc! {},
                doc! { "sort": { "year": -1, "votes": -1 }, "limit": 20 },
            ),
        ),
        (
            "prefix by an index, 1,000 documents",
            find(
                "events",
                doc! { "kind": { "$regex": "^kind 1" } },
                doc! { "limit": 1_000 },
            ),
        ),
        (
            "$or of two indexes",
            events(doc! { "$or": [{ "user": 7 }, { "kind": "kind 3", "value": 5 }] }),
        ),
        (
            "scan with two predicates",
            films(doc! { "votes": { "$gt": 900_000 }, "rating": { "$gte": 9.0 } }),
        ),
        (
            "scan with a regular expression",
            films(doc! { "title": { "$regex": "99$" } }),
        ),
        ("scan for a value in arrays", films(doc! { "genres": 3 })),
        ("scan for a nested field", events(doc! { "place.city": 7 })),
        (
            "projection of nested fields, 10,000 documents",
            find(
                "events",
                doc! { "user": { "$lt": 100 } },
                doc! { "projection": { "place.city": 1, "tags": 1 } },
            ),
        ),
        (
            "skip of 1,000, limit 20",
            find(
                "events",
                doc! { "user": { "$gt": 5 } },
                doc! { "skip": 1_000, "limit": 20 },
            ),
        ),
        ("all films", films(doc! {})),
        (
            "count without an index",
            doc! { "count": "events", "query": { "place.zone": 3 } },
        ),
        ("count of all", doc! { "count": "events" }),
        (
            "distinct without an index",
            doc! { "distinct": "events", "key": "place.city" },
        ),
    ]
}

fn aggregations() -> Vec<(&'static str, Document)> {
    let events = |stages| pipeline("events", stages);
    let of_some = |mut stages: Vec<Document>| {
        stages.insert(0, doc! { "$match": { "user": { "$lt": 100 } } });
        events(stages)
    };
    let joined = doc! { "$lookup": {
        "from": "users", "localField": "user", "foreignField": "_id",
        "pipeline": [{ "$project": { "name": 1 } }], "as": "found",
    } };
    vec![
        (
            "$group by two fields",
            events(vec![
                doc! { "$group": { "_id": { "k": "$kind", "z": "$place.zone" }, "n": { "$sum": 1 } } },
            ]),
        ),
        (
            "$group with $avg, $min, $max",
            events(vec![doc! { "$group": {
                "_id": "$kind", "avg": { "$avg": "$value" }, "min": { "$min": "$value" }, "max": { "$max": "$value" },
            } }]),
        ),
        (
            "$group with $push, 10,000 documents",
            of_some(vec![
                doc! { "$group": { "_id": "$user", "values": { "$push": "$value" } } },
            ]),
        ),
        (
            "$bucket",
            events(vec![
                doc! { "$bucket": { "groupBy": "$value", "boundaries": [0, 10, 100, 500, 1_000] } },
            ]),
        ),
        (
            "$bucketAuto of 10,000",
            of_some(vec![
                doc! { "$bucketAuto": { "groupBy": "$value", "buckets": 10 } },
            ]),
        ),
        (
            "$sortByCount",
            events(vec![doc! { "$sortByCount": "$kind" }]),
        ),
        (
            "running sums of 10,000",
            of_some(vec![doc! { "$setWindowFields": {
                "partitionBy": "$user", "sortBy": { "value": 1 },
                "output": { "sum": { "$sum": "$value", "window": { "documents": ["unbounded", "current"] } } },
            } }]),
        ),
        (
            "ranks of 10,000",
            of_some(vec![doc! { "$setWindowFields": {
                "partitionBy": "$user", "sortBy": { "value": 1 }, "output": { "rank": { "$rank": {} } },
            } }]),
        ),
        (
            "$unionWith",
            events(vec![
                doc! { "$match": { "user": 7 } },
                doc! { "$unionWith": { "coll": "events", "pipeline": [{ "$match": { "user": 8 } }] } },
            ]),
        ),
        (
            "$lookup with a pipeline, 1,000 documents",
            events(vec![doc! { "$limit": 1_000 }, joined]),
        ),
        (
            "$replaceRoot of 10,000",
            of_some(vec![doc! { "$replaceRoot": { "newRoot": "$place" } }]),
        ),
        (
            "computed fields of 10,000",
            of_some(vec![doc! { "$project": {
                "name": { "$concat": ["$kind", " of ", { "$toString": "$user" }] },
                "size": { "$cond": [{ "$gte": ["$value", 500] }, "large", "small"] },
                "most": { "$max": "$tags" },
            } }]),
        ),
        (
            "$sample of 100",
            events(vec![doc! { "$sample": { "size": 100 } }]),
        ),
        (
            "$merge of 1,000 groups",
            events(vec![
                doc! { "$group": { "_id": "$user", "sum": { "$sum": "$value" } } },
                doc! { "$merge": "merged" },
            ]),
        ),
        (
            "$out of 1,000 documents",
            events(vec![doc! { "$limit": 1_000 }, doc! { "$out": "replaced" }]),
        ),
    ]
}

fn writes() -> Vec<(&'static str, Document)> {
    let update = |filter: Document, update: Document, many: bool| {
        doc! { "update": "written", "updates": [{ "q": filter, "u": update, "multi": many }] }
    };
    let small = |at: i32| doc! { "user": at % USERS, "value": at };
    let each: Vec<Document> = (0..100)
        .map(|id| doc! { "q": { "_id": id }, "u": { "$inc": { "n": 1 } } })
        .collect();
    vec![
        (
            "insert of one document",
            doc! { "insert": "inserted", "documents": [small(1)] },
        ),
        (
            "insert of 1,000 documents",
            doc! { "insert": "inserted", "documents": (0..1_000).map(small).collect::<Vec<_>>() },
        ),
        (
            "$inc by id",
            update(doc! { "_id": 7 }, doc! { "$inc": { "n": 1 } }, false),
        ),
        (
            "$inc of an indexed field by id",
            update(doc! { "_id": 8 }, doc! { "$inc": { "value": 1 } }, false),
        ),
        (
            "$push with $slice by id",
            update(
                doc! { "_id": 9 },
                doc! { "$push": { "recent": { "$each": [1], "$slice": -10 } } },
                false,
            ),
        ),
        (
            "update of 100 documents",
            update(
                doc! { "user": { "$lt": 100 } },
                doc! { "$inc": { "n": 1 } },
                true,
            ),
        ),
        (
            "100 updates by id",
            doc! { "update": "written", "updates": each },
        ),
        (
            "findAndModify by id",
            doc! { "findAndModify": "written", "query": { "_id": 10 }, "update": { "$inc": { "n": 1 } }, "new": true },
        ),
    ]
}
