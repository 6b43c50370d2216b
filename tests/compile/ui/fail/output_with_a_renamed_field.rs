//! A field of the documents that was renamed.

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
    name: String,
}

fn main() {
    let _ = pipeline::<Book>().project(|b| output!(Card { name: b.heading }));
}
