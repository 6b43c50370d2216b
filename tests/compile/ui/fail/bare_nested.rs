use std::collections::HashMap;

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
struct Library {
    by_name: HashMap<String, Vec<Contact>>,
    #[odm(embed(few, max = 3))]
    lists: Vec<Vec<Contact>>,
    pair: (i32, Vec<Contact>),
    several: [HashMap<String, Contact>; 2],
    #[odm(references(many, max = 3))]
    books: Vec<Vec<Ref<Book>>>,
}

fn main() {}
