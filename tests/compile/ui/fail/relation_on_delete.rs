use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(refers_to(Book))]
    isbn: String,
    #[odm(index, on_delete = cascade)]
    author: Ref<Author>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    has_many(books: Book, by = author, on_delete = nullify)
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "publishers",
    has_many(books: Book, by = publisher, on_delete = cascade),
    has_many(early: Book, by = publisher, on_delete = restrict)
)]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "sessions",
    ttl(at, after = "1h"),
    has_many(books: Book, by = session, on_delete = cascade)
)]
struct Session {
    #[serde(rename = "_id")]
    id: i32,
    at: odm::bson::DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "logs",
    capped(size = 4096),
    has_many(books: Book, by = log, on_delete = restrict)
)]
struct Log {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
