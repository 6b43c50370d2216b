use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", wildcard(time, expire_after = "1d"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    time: DateTime
}

fn main() {}
