use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Tags = Vec<String>;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(tags, grades))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    tags: Tags,
    grades: Vec<i32>
}

fn main() {}
