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

type ByName = HashMap<String, Contact>;

#[derive(Serialize, Deserialize, Embedded)]
struct Library {
    contacts: HashMap<String, Contact>,
    pairs: Vec<(i32, Contact)>,
    by_name: Option<Box<ByName>>,
    books: HashMap<String, Ref<Book>>,
    maybe: Vec<Option<Box<Contact>>>,
    #[serde(flatten)]
    others: HashMap<String, Contact>,
}

fn main() {}
