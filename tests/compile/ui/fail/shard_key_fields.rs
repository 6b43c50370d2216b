use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", shard_key(tags))]
struct List {
    #[serde(rename = "_id")]
    id: i32,
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "b", shard_key(host))]
struct Nullable {
    #[serde(rename = "_id")]
    id: i32,
    host: Option<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "c", shard_key(host = hashed, day = hashed))]
struct HashedTwice {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    day: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "d", shard_key(host, day = desc))]
struct Descending {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    day: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "e", shard_key(host, host = hashed))]
struct Twice {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "f", shard_key(hosts))]
struct Misspelled {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "g", shard_key)]
struct Empty {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "h", shard_key(host), capped(size = 4_096))]
struct Capped {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
}

fn main() {}
