use odm::prelude::*;
use serde::{Deserialize, Serialize};

// How the word is written.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series)]
struct Bare {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(meta = sensor))]
struct NoTime {
    #[serde(rename = "_id")]
    id: i32,
    sensor: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(time = at, granularity = "days"))]
struct Days {
    #[serde(rename = "_id")]
    id: i32,
    at: DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(time = at, metta = sensor))]
struct Misspelt {
    #[serde(rename = "_id")]
    id: i32,
    at: DateTime,
}

// What the fields are.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(time = att, meta = id))]
struct Fields {
    #[serde(rename = "_id")]
    id: i32,
    at: DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(time = at, meta = at), capped(size = 1_000))]
struct Optional {
    #[serde(rename = "_id")]
    id: i32,
    at: Option<DateTime>,
}

// What MongoDB refuses.
#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "a",
    time_series(time = at),
    unique(at, sensor),
    ttl(at, after = "1d"),
    validation(level = "off"),
    deny_undeclared
)]
struct Refused {
    #[serde(rename = "_id")]
    id: i32,
    at: DateTime,
    #[odm(unique)]
    sensor: i32,
    #[odm(version)]
    version: i64,
    #[odm(updated_at)]
    updated: DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(time = at, meta = sensor), shard_key(sensor))]
struct Sharded {
    #[serde(rename = "_id")]
    id: i32,
    at: DateTime,
    sensor: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(time_series(time = at))]
struct Inside {
    at: DateTime,
}

fn main() {}
