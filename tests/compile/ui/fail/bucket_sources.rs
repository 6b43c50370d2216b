use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Reading {
    at: DateTime,
    celsius: Option<f64>,
}

// What a field of the items does not fit.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", bucket(of = Reading, by = sensor, max = 200, span = "1h"))]
struct Hour {
    #[serde(rename = "_id")]
    id: Id<Hour>,
    sensor: String,
    #[odm(start_of(time))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
    #[odm(smallest(celsius))]
    coldest: f64,
}

fn main() {}
