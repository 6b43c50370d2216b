use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", has_many(loans: Loan, by = isbn, key = title))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    isbn: String,
    title: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, refers_to(Book, by = isbn))]
    isbn: String,
    #[odm(refers_to(Book, by = title))]
    title: String,
    #[odm(refers_to(Book, by = isbn))]
    number: i64,
}

fn main() {}
