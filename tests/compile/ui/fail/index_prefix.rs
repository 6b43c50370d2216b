use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(title, year))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    title: String,
    year: i32
}

fn main() {}
