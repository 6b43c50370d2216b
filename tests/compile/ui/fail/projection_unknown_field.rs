use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32,
}

#[derive(Deserialize, Projection)]
#[odm(of = Book)]
struct Part {
    tilte: String,
}

fn main() {}
