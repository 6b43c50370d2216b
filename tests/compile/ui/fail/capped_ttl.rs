use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", capped(size = 4096), ttl(time, after = "30d"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    time: DateTime
}

fn main() {}
