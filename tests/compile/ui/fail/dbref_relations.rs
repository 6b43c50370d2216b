use odm::dbref::DbRef;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "publishers", has_many(books: Book, by = publisher))]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(publisher))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    publisher: DbRef<Publisher>,
}

fn main() {}
