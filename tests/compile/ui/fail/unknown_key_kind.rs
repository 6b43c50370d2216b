use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(year = up))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    year: i32
}

fn main() {}
