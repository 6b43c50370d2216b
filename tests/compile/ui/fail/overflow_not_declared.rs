use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", has_many(more: MoreReaders, by = book, on_delete = cascade))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 10))]
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Id<MoreReaders>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<String>,
}

fn use_them(db: &Db) {
    db.overflow::<Book>();
    db.overflow::<MoreReaders>().push("one", ["Ada".to_owned()]);
    db.overflow::<MoreReaders>().push(1, [7]);
}

fn main() {}
