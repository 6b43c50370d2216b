//! A facet continues the pipeline that it stands in.

use odm::facets;
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
    let _ = pipeline::<Book>().facet(|_| facets!(Found { books: pipeline::<Book>().limit(1) }));
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Found {
    books: Vec<Book>,
}
