//! What only a pipeline makes is not stored, and has nothing that only stored documents have.

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Found {
    #[odm(length(max = 3))]
    title: String,
    #[odm(items(max = 3))]
    tags: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Kept {
    title: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    kept: Option<Kept>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books", result)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
