use std::collections::BTreeMap;

use odm::prelude::*;

#[derive(Serialize, Deserialize)]
struct Checkout {
    by: String,
}

#[derive(Serialize, Deserialize)]
enum State {
    Lent(Checkout),
    Lost,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Shelf {
    row: i32,
    last: Option<Checkout>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Newtype(State);

#[derive(Serialize, Deserialize, Embedded)]
enum Event {
    Lent(Checkout),
    Returned { state: State },
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(first.by))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    first: Checkout,
    #[odm(embed(few, max = 3))]
    all: Vec<Checkout>,
    by_year: BTreeMap<String, Vec<Option<Checkout>>>,
    shelf: Shelf,
    newtype: Newtype,
    event: Event,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "states")]
struct ById {
    #[serde(rename = "_id")]
    id: State,
    length: std::time::Duration,
}

// What uses these is no mistake of its own.
fn used(books: &Collection<Book>, by_id: &Collection<ById>) {
    let _ = books.find(|b| b.title.eq("Dune"));
    let _ = books.find(|b| b.first.by.eq("Ada"));
    let _ = books.find(|b| b.shelf.row.gt(1) & b.id.eq(3));
    let _ = books.update_one(|b| b.id.eq(3), |b| b.title.set("Emma"));
    let _ = by_id.find(|one| one.length.exists(true));
}

fn main() {}
