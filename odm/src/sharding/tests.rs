//! Filters and commands, and the shards that they reach.

use std::sync::Mutex;

use bson::{Document, doc};

use super::reach::{Key, Reach};
use super::{Effect, Watched};
use crate::model::{EmbeddedMeta, ModelMeta};

fn reach(shard_key: &Document, filter: &Document) -> Reach {
    Key(shard_key.clone()).found(filter).reach
}

#[test]
fn a_value_of_each_field_reaches_one_shard() {
    let key = doc! {"host": "hashed", "at.day": 1};
    for filter in [
        doc! {"host": "a", "at.day": 5},
        doc! {"host": {"$eq": "a"}, "at": {"day": 5, "hour": 1}},
        doc! {"$and": [{"host": "a"}, {"$and": [{"at.day": {"$in": [5], "$gt": 1}}]}]},
        doc! {"host": {"$in": ["a"]}, "at.day": null, "load": {"$gt": 1}},
        doc! {"$or": [{"host": "a", "at.day": 5}]},
        // A subdocument is a value, too.
        doc! {"host": {"name": "a"}, "at.day": 5},
    ] {
        assert_eq!(reach(&key, &filter), Reach::One, "{filter}");
    }
}

#[test]
fn values_of_the_first_field_reach_some_shards() {
    let key = doc! {"host": "hashed", "day": 1};
    for filter in [
        doc! {"host": "a"},
        doc! {"host": {"$in": ["a", "b"]}, "day": 5},
        doc! {"$or": [{"host": "a"}, {"host": "b", "day": 5}]},
        doc! {"host": "a", "day": {"$gt": 5}},
    ] {
        assert_eq!(reach(&key, &filter), Reach::Some, "{filter}");
    }
    let ranged = doc! {"host": 1};
    let regex = bson::Regex {
        pattern: "^a".try_into().unwrap(),
        options: "".try_into().unwrap(),
    };
    for filter in [
        doc! {"host": {"$gte": "a", "$lt": "b"}},
        doc! {"host": regex},
    ] {
        assert_eq!(reach(&ranged, &filter), Reach::Some, "{filter}");
        assert_eq!(reach(&key, &filter), Reach::All, "{filter}");
    }
}

#[test]
fn other_conditions_reach_all_shards() {
    let key = doc! {"host": 1, "day": 1};
    for filter in [
        doc! {},
        doc! {"day": 5},
        doc! {"host": {"$ne": "a"}},
        doc! {"host": {"$not": {"$eq": "a"}}},
        doc! {"host": {"$exists": true}},
        doc! {"host": ["a"]},
        doc! {"host": {"$in": ["a", ["b"]]}},
        doc! {"$or": [{"host": "a"}, {"day": 5}]},
        doc! {"$nor": [{"host": "a"}]},
        doc! {"$expr": {"$eq": ["$host", "a"]}},
        doc! {"hosts": "a", "host.name": "a"},
    ] {
        assert_eq!(reach(&key, &filter), Reach::All, "{filter}");
    }
}

static READING: ModelMeta = ModelMeta {
    name: "Reading",
    collection: "readings",
    embedded: || const { &EmbeddedMeta::of("Reading") },
    ..ModelMeta::EMPTY
};

fn effects(command: &Document) -> Vec<(usize, Effect)> {
    let key = doc! {"host": 1, "day": 1};
    let of_key = (&READING, Key(key));
    let watched = Watched([("readings".to_owned(), of_key)].into_iter().collect());
    let seen = Mutex::new(Vec::new());
    watched.report(command, &|scattered: &super::Scattered<'_>| {
        assert_eq!(scattered.command, command);
        seen.lock()
            .unwrap()
            .push((scattered.statement, scattered.effect));
    });
    seen.into_inner().unwrap()
}

#[test]
fn each_command_has_its_effects() {
    use Effect::{AllShards, Refused};
    let whole = doc! {"host": "a", "day": 1};
    let cases: Vec<(Document, &[(usize, Effect)])> = vec![
        (
            doc! {"find": "readings", "filter": {"day": 1}},
            &[(0, AllShards)],
        ),
        (doc! {"find": "readings"}, &[(0, AllShards)]),
        (
            doc! {"find": "readings", "filter": {"_id": 1}},
            &[(0, AllShards)],
        ),
        (doc! {"find": "readings", "filter": {"host": "a"}}, &[]),
        (doc! {"find": "others", "filter": {}}, &[]),
        (
            doc! {"count": "readings", "query": {"day": 1}},
            &[(0, AllShards)],
        ),
        (
            doc! {"distinct": "readings", "key": "x", "query": {"host": "a"}},
            &[],
        ),
        (doc! {"insert": "readings", "documents": [{}]}, &[]),
        (doc! {"getMore": 5_i64, "collection": "readings"}, &[]),
        (doc! {"listCollections": 1}, &[]),
        (
            doc! {"update": "readings", "updates": [
                {"q": {"host": "a"}, "u": {}}, {"q": {"_id": 1}, "u": {}}, {"q": {"host": "a", "_id": 1}, "u": {}},
                {"q": &whole, "u": {}}, {"q": {"host": "a"}, "u": {}, "multi": true}, {"q": {}, "u": {}, "multi": true},
                {"q": {"_id": 1}, "u": {}, "upsert": true}, {"q": &whole, "u": {}, "upsert": true},
            ]},
            &[(0, Refused), (1, AllShards), (5, AllShards), (6, Refused)],
        ),
        (
            doc! {"delete": "readings", "deletes": [
                {"q": {"day": 1}, "limit": 1}, {"q": {"day": 1}, "limit": 0}, {"q": &whole, "limit": 1},
                {"q": {"_id": 1}, "limit": 1_i64},
            ]},
            &[(0, Refused), (1, AllShards), (3, AllShards)],
        ),
        (
            doc! {"findAndModify": "readings", "query": {"_id": 1}, "update": {}},
            &[(0, Refused)],
        ),
        (
            doc! {"findAndModify": "readings", "query": &whole, "remove": true},
            &[],
        ),
        (
            doc! {"aggregate": "readings", "pipeline": [{"$match": {"host": "a"}}, {"$match": {"x": 1}}]},
            &[],
        ),
        (
            doc! {"aggregate": "readings", "pipeline": [{"$limit": 1}, {"$match": {"host": "a"}}]},
            &[(0, AllShards)],
        ),
        (doc! {"aggregate": 1, "pipeline": []}, &[]),
    ];
    for (command, expected) in cases {
        assert_eq!(effects(&command), expected, "{command}");
    }
}

#[test]
fn joined_collections_count_too() {
    let joins = [
        (
            doc! {"$lookup": {"from": "readings", "localField": "a", "foreignField": "host", "as": "x"}},
            0,
        ),
        (
            doc! {"$lookup": {"from": "readings", "localField": "a", "foreignField": "_id", "as": "x"}},
            1,
        ),
        (
            doc! {"$lookup": {"from": "readings", "pipeline": [{"$match": {"host": "a"}}], "as": "x"}},
            0,
        ),
        (
            doc! {"$lookup": {"from": "others", "pipeline": [{"$unionWith": "readings"}], "as": "x"}},
            1,
        ),
        (
            doc! {"$graphLookup": {"from": "readings", "startWith": "$a", "connectFromField": "a", "connectToField": "b", "as": "x"}},
            1,
        ),
        (
            doc! {"$unionWith": {"coll": "readings", "pipeline": [{"$match": {"host": "a"}}]}},
            0,
        ),
        (
            doc! {"$facet": {"a": [{"$unionWith": {"coll": "readings"}}]}},
            1,
        ),
    ];
    for (join, expected) in joins {
        let command = doc! {"aggregate": "others", "pipeline": [&join]};
        assert_eq!(effects(&command).len(), expected, "{join}");
    }
}
