use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a\0b")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String
}

fn main() {}
