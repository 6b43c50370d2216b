use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Moment = DateTime;
type Whole = i64;
type Maybe = Option<i32>;
type Name = String;

#[derive(Serialize, Deserialize, Embedded)]
struct Reading {
    at: DateTime,
    celsius: f64,
    #[odm(items(max = 3))]
    tags: Vec<i32>,
    name: String,
}

// What only the compiler knows: the types behind aliases, and those of the items.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = 10))]
struct Start {
    #[serde(rename = "_id")]
    id: Id<Start>,
    sensor: String,
    #[odm(start_of(at))]
    start: Moment,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = "1h"))]
struct Kept {
    #[serde(rename = "_id")]
    id: Name,
    sensor: String,
    #[odm(start_of(at))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: Maybe,
    #[odm(total(celsius))]
    total: Whole,
    #[odm(largest(tags))]
    tags: Vec<i32>,
    #[odm(smallest(name))]
    name: String,
    site: Name,
}

fn main() {}
