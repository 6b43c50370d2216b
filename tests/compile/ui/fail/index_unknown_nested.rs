use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(contact.nmae))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    contact: Contact
}

fn main() {}
