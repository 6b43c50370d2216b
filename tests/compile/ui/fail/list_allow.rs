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
    #[odm(embed(few, max = 500, allow = ""))]
    contacts: Vec<Contact>,
    #[odm(embed(few, max = 200, allow = "a reason"))]
    few: Vec<Contact>,
    #[odm(references(many, max = 9_000, allow = " "))]
    parts: Vec<Ref<Book>>,
    #[odm(references(many, max = 5_000, allow = "a reason"))]
    many: Vec<Ref<Book>>,
    #[odm(references(many, max = 9_000, because = "a reason"))]
    others: Vec<Ref<Book>>,
}

fn main() {}
