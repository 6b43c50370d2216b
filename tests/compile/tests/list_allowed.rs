use std::collections::HashMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Contacts = Vec<Contact>;

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", has_many(sequels: Book, by = parts, allow_scan = "there are few books"))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 500, allow = "contacts are two words each"))]
    contacts: Vec<Contact>,
    #[odm(references(many, max = 9_000, allow = "they are read with the book, always"))]
    many: Vec<Ref<Book>>,
    #[odm(unbounded = "a book has few parts, but no rule says how many")]
    parts: Vec<Ref<Book>>,
    #[odm(unbounded = "the importer bounds them")]
    bare: Vec<Contact>,
    #[odm(unbounded = "the importer bounds them")]
    alias: Contacts,
    #[odm(unbounded = "the importer bounds them")]
    nested: HashMap<String, Vec<Contact>>,
    #[serde(flatten)]
    #[odm(unbounded = "the importer bounds them")]
    others: HashMap<String, Contact>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Page<T> {
    #[odm(unbounded = "a page is what the caller asked for")]
    items: Vec<T>,
    contacts: Option<T>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Found {
    page: Page<Contact>,
}

#[test]
fn runs() {
    let parts = odm::query::fields::<Book>().parts;
    let _ = odm::query::fields::<Book>().bare;
    drop(parts);
}
