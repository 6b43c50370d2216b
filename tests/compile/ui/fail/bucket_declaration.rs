use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Reading {
    at: DateTime,
    celsius: f64,
}

// How the word is written.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket)]
struct Bare {
    #[serde(rename = "_id")]
    id: Id<Bare>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200))]
struct WithoutSpan {
    #[serde(rename = "_id")]
    id: Id<WithoutSpan>,
    sensor: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, per = sensor, max = 200, span = "1h"))]
struct OtherWord {
    #[serde(rename = "_id")]
    id: Id<OtherWord>,
    sensor: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = "1 month"))]
struct OtherUnit {
    #[serde(rename = "_id")]
    id: Id<OtherUnit>,
    sensor: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = "0s"))]
struct NoLength {
    #[serde(rename = "_id")]
    id: Id<NoLength>,
    sensor: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by(), max = 200, span = 0))]
struct NoKey {
    #[serde(rename = "_id")]
    id: Id<NoKey>,
    sensor: String,
}

// What is missing, or declared twice.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensr, max = 6_000, span = "1h"))]
struct Nothing {
    #[serde(rename = "_id")]
    id: Id<Nothing>,
    sensor: Option<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by(sensor, sensor), max = 0, span = "1h"))]
struct Twice {
    #[serde(rename = "_id")]
    id: Id<Twice>,
    sensor: String,
    readings: Vec<Reading>,
    more: Vec<Reading>,
    #[odm(start_of(at))]
    start: DateTime,
    #[odm(start_of(at))]
    second: DateTime,
    #[odm(item_count)]
    count: i32,
    #[odm(item_count)]
    again: i32,
    #[odm(smallest(celsius), largest(celsius))]
    both: f64,
}

// What the fields are.
#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "a",
    bucket(of = Reading, by(id, sensor, tags, count), max = 200, span = "1h"),
    index(sensor),
    capped(size = 1_000),
    collation(locale = "en")
)]
struct Fields {
    #[serde(rename = "_id")]
    id: i32,
    sensor: Option<String>,
    tags: Vec<String>,
    #[odm(start_of(at))]
    start: i64,
    #[odm(embed(few, max = 20))]
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: Option<i32>,
    #[odm(total(celsius))]
    total: String,
    #[odm(item_count = 3)]
    wrong: i32,
    #[odm(largest)]
    bare: f64,
    #[odm(smallest(celsius), version)]
    version: i64,
    site: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = 10))]
struct Numbers {
    #[serde(rename = "_id")]
    id: Id<Numbers>,
    #[serde(flatten)]
    sensor: Sensor,
    #[odm(start_of(at))]
    start: DateTime,
    #[odm(unbounded = "many")]
    readings: Vec<Reading>,
    #[serde(skip_serializing_if = "is_zero", default)]
    #[odm(item_count)]
    count: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Sensor {
    sensor: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "a",
    bucket(of = Reading, by = sensor, max = 200, span = "1h"),
    index(sensor, start, count = desc)
)]
struct SameIndex {
    #[serde(rename = "_id")]
    id: Id<SameIndex>,
    sensor: String,
    #[odm(start_of(at))]
    start: DateTime,
    #[odm(items(max = 10))]
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
}

// Where the words stand.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a")]
struct NoBucket {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(item_count)]
    count: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(bucket(of = Reading, by = sensor, max = 200, span = "1h"))]
struct Inside {
    sensor: String,
    #[odm(start_of(at))]
    start: DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = "1h"))]
struct Generic<T: Send + Sync + 'static> {
    #[serde(rename = "_id")]
    id: i32,
    sensor: String,
    #[serde(skip)]
    of: std::marker::PhantomData<T>,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

fn main() {}
