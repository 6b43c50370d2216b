//! The least value of a window that may be empty.

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
    let _ = pipeline::<Book>().set_window_fields(
        |b| b.year.asc(),
        |b, w| output!(Card { title: b.title, count: w.documents(-3..=-1).min(b.year) }),
    );
}
