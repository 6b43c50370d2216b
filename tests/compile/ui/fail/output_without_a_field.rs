//! An output that leaves out a field of its struct.

use odm::pipeline::pipeline;
use odm::prelude::*;
use odm::output;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Card {
    title: String,
    year: i32,
}

fn main() {
    let _ = pipeline::<Book>().project(|b| output!(Card { title: b.title }));
}
