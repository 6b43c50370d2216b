use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
