use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(tags = hashed))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    tags: Vec<String>
}

fn main() {}
