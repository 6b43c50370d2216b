use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(year))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(skip)]
    year: i32
}

fn main() {}
