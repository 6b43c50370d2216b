use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(title, name = "a"), index(year, name = "a"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32
}

fn main() {}
