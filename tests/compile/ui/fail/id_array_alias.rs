use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Ids = Vec<i32>;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: Ids,
}

fn main() {}
