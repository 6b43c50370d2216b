use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(min = 1))]
    year: i32
}

#[derive(Serialize, Deserialize, Embedded)]
struct Loan {
    #[odm(length(max = 1))]
    next: Option<Ref<Book>>,
}

fn main() {}
