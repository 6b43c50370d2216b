use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
enum Book {
    Paper { id: i32 },
    Audio(String),
}

fn main() {}
