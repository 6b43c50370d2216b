use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", ttl(time, year, after = "30d"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    time: DateTime,
    year: i32
}

fn main() {}
