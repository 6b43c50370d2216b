use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Year = i32;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", ttl(year, after = "30d"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    year: Year
}

fn main() {}
