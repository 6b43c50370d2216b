use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", text(title), text(body))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    body: String
}

fn main() {}
