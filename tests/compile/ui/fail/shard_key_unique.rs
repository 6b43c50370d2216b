use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", shard_key(host, day))]
struct OnField {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    day: i32,
    #[odm(unique)]
    serial: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "b", shard_key(host, day), unique(host, serial), unique(host, day, serial))]
struct OnStruct {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    day: i32,
    serial: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "c", shard_key(host = hashed), unique(host, serial))]
struct Hashed {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    serial: String,
}

fn main() {}
