use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(title, unique = true))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(index(unique = true))]
    isbn: String,
    #[odm(unique(sparse = true))]
    ean: i64,
    #[odm(index(hidden = false))]
    year: i32,
}

fn main() {}
