use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Page<T> {
    items: Vec<T>,
    total: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    numbers: Page<i32>,
    contacts: Option<Page<Contact>>,
}

fn main() {}
