//! Pipelines whose stages can move or be combined, and reads that an index or a part of a document can answer.

use mongodb::bson::{Bson, Document, doc};

use super::{USERS, pipeline};

pub(super) fn rows() -> Vec<(&'static str, Document)> {
    let events = |stages| pipeline("events", stages);
    let films = |stages| pipeline("films", stages);
    let lookup = |local: &str, foreign: &str| {
        doc! { "$lookup": { "from": "users", "localField": local, "foreignField": foreign, "as": "found" } }
    };
    vec![
        (
            "$addFields, $match on an index",
            events(vec![
                doc! { "$addFields": { "double": { "$multiply": ["$value", 2] } } },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$project, $match on an index",
            events(vec![
                doc! { "$project": { "user": 1, "value": 1 } },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$sort, $match on an index",
            events(vec![
                doc! { "$sort": { "value": 1 } },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$unwind, $match on the parent's index",
            events(vec![
                doc! { "$unwind": "$tags" },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$lookup, $match on the parent's index",
            events(vec![
                lookup("user", "_id"),
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$group, $match on the key",
            events(vec![
                doc! { "$group": { "_id": "$user", "sum": { "$sum": "$value" } } },
                doc! { "$match": { "_id": 7 } },
            ]),
        ),
        (
            "distinct by an index",
            doc! { "distinct": "events", "key": "user" },
        ),
        (
            "$group of an index",
            events(vec![doc! { "$group": { "_id": "$user" } }]),
        ),
        (
            "$sort, $group with $first",
            events(vec![
                doc! { "$sort": { "kind": 1, "value": 1 } },
                doc! { "$group": { "_id": "$kind", "first": { "$first": "$value" } } },
            ]),
        ),
        (
            "$unwind, $group",
            events(vec![
                doc! { "$unwind": "$tags" },
                doc! { "$group": { "_id": "$tags", "sum": { "$sum": "$value" } } },
            ]),
        ),
        (
            "$group with $sum",
            events(vec![
                doc! { "$group": { "_id": "$place.city", "sum": { "$sum": "$value" } } },
            ]),
        ),
        (
            "$lookup without an index, 100 documents",
            events(vec![doc! { "$limit": 100 }, lookup("user", "alias")]),
        ),
        (
            "$lookup by an index, 1,000 documents",
            events(vec![doc! { "$limit": 1_000 }, lookup("user", "_id")]),
        ),
        (
            "covered projection of 10,000",
            doc! {
                "find": "events",
                "filter": { "user": { "$lt": 100 } },
                "projection": { "_id": 0, "user": 1 },
                "batchSize": 1_000_000,
            },
        ),
        (
            "count over half of an index",
            doc! { "count": "events", "query": { "user": { "$lt": USERS / 2 } } },
        ),
        (
            "$facet of three",
            events(vec![
                doc! { "$match": { "user": { "$lt": 100 } } },
                doc! { "$facet": {
                    "kinds": [{ "$sortByCount": "$kind" }],
                    "values": [{ "$group": { "_id": Bson::Null, "most": { "$max": "$value" } } }],
                    "some": [{ "$limit": 10 }],
                } },
            ]),
        ),
        (
            "$project, $group of one field of a film",
            films(vec![
                doc! { "$project": { "director": 1 } },
                doc! { "$group": { "_id": "$director", "films": { "$sum": 1 } } },
            ]),
        ),
        (
            "$group of one field of a film",
            films(vec![
                doc! { "$group": { "_id": "$director", "films": { "$sum": 1 } } },
            ]),
        ),
        (
            "$sort, $skip, $limit without an index",
            films(vec![
                doc! { "$sort": { "rating": -1, "title": 1 } },
                doc! { "$skip": 100 },
                doc! { "$limit": 20 },
            ]),
        ),
        (
            "$addFields, $sort, $limit",
            films(vec![
                doc! { "$addFields": { "score": { "$multiply": ["$rating", "$votes"] } } },
                doc! { "$sort": { "score": -1 } },
                doc! { "$limit": 20 },
            ]),
        ),
        (
            "sort of all films",
            doc! { "find": "films", "sort": { "title": 1 }, "batchSize": 1_000_000, "projection": { "title": 1 } },
        ),
        (
            "$expr of two fields",
            films(vec![
                doc! { "$match": { "$expr": { "$gt": ["$year", "$votes"] } } },
            ]),
        ),
        (
            "equality in an array by an index",
            doc! { "find": "films", "filter": { "cast.name": "actor 7" } },
        ),
        (
            "$elemMatch without an index",
            doc! { "find": "films", "filter": { "cast": { "$elemMatch": { "role": 3, "name": { "$gt": "actor 99" } } } } },
        ),
    ]
}
