//! A group has many documents, so a field needs an accumulator.

use odm::pipeline::pipeline;
use odm::prelude::*;
use odm::output;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    author: String,
    title: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Author {
    #[serde(rename = "_id")]
    name: String,
    title: String,
}

fn main() {
    let _ = pipeline::<Book>().group_by(
        |b| b.author,
        |b, group| output!(Author { name: group.key(), title: b.title }),
    );
}
