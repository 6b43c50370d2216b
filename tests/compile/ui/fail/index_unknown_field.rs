use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(tilte))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String
}

fn main() {}
