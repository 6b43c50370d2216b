use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
enum Shelf {
    Contacts(Vec<Contact>),
    Numbered(i32, Vec<Ref<Book>>),
    Book(Box<Book>),
}

#[derive(Serialize, Deserialize, Embedded)]
struct Numbered(i32, Vec<Contact>);

fn main() {}
