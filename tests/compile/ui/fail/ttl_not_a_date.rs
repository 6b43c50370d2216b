use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", ttl(year, after = "30d"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    year: i32
}

fn main() {}
