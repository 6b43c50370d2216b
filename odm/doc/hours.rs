use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Reading {
    at: DateTime,
    celsius: f64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "hours", bucket(of = Reading, by = sensor, max = 25, span = "1h"))]
struct Hour {
    #[serde(rename = "_id")]
    id: Id<Hour>,
    sensor: String,
    #[odm(start_of(at))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
    #[odm(smallest(celsius))]
    coldest: f64,
    #[odm(largest(celsius))]
    warmest: f64,
    #[odm(total(celsius))]
    celsius: f64,
}

/// A time on the first day of 2026.
#[allow(dead_code)]
fn at(hour: i64, minute: i64) -> DateTime {
    DateTime::from_millis(1_767_225_600_000 + (hour * 60 + minute) * 60_000)
}

#[allow(dead_code)]
fn reading(hour: i64, minute: i64, celsius: f64) -> Reading {
    Reading { at: at(hour, minute), celsius }
}
