use odm::prelude::*;
use serde::{Deserialize, Serialize};

fn recent(books: BookFields<Book>) -> Filter<Book> {
    books.title.eq("a") & books.id.gt(1)
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(tilte))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String
}

fn main() {}
