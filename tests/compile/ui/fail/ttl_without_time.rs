use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", ttl(time))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    time: DateTime
}

fn main() {}
