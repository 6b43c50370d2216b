use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", capped(max = 10))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String
}

fn main() {}
