//! An average can be null, so it does not fit an `f64`.

use odm::pipeline::pipeline;
use odm::prelude::*;
use odm::output;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    year: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Mean {
    year: f64,
}

fn main() {
    let _ = pipeline::<Book>().group_all(|b, all| output!(Mean { year: all.avg(b.year) }));
}
