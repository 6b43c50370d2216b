use std::collections::BTreeMap;

use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded, PartialEq, Eq, PartialOrd, Ord)]
enum Shelf {
    Low,
    Number(i32),
}

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Underived {
    Low,
    High,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    by_shelf: BTreeMap<Shelf, i32>,
    by_underived: BTreeMap<Underived, i32>,
}

// What uses these is no mistake of its own.
fn used(books: &Collection<Book>) {
    let _ = books.find(|b| b.id.eq(1));
    let _ = books.find(|b| b.by_shelf.exists(true));
}

fn main() {}
