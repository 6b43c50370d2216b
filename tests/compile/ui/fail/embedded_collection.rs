use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[odm(collection = "books")]
struct Book {
    title: String,
}

fn main() {}
