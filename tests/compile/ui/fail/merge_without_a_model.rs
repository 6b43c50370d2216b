//! Results without a collection are not merged.

use odm::output;
use odm::pipeline::{WhenMatched, pipeline};
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
    let cards = pipeline::<Book>().project(|b| output!(Card { title: b.title, count: b.year }));
    let _ = cards.merge(WhenMatched::KeepExisting);
}
