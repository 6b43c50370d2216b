//! Boundaries of another type than the value.

use odm::output;
use odm::pipeline::pipeline;
use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(author))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    author: Ref<Author>,
    title: String,
    year: i32,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Card {
    title: String,
    count: i32,
}

fn main() {
    let _ = pipeline::<Book>().bucket(
        |b| b.year,
        ["a", "b"],
        |b, range| output!(Card { title: range.max(b.title), count: 1 }),
    );
}
