use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Number = f64;
type Key = i32;
type Text = String;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", has_many(more: MoreReaders, by = book, on_delete = cascade))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 10))]
    readers: Vec<String>,
}

// What only the types show.
#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Key,
    book: Ref<Book>,
    number: Number,
    readers: Vec<String>,
    note: Text,
}

fn main() {}
