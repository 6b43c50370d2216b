use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Wrapped(Book);

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    book: Book,
    previous: Option<Box<Book>>,
    pair: (i32, Wrapped),
    two: [Book; 2],
    #[odm(embed(few, max = 2))]
    several: Vec<Book>,
    #[odm(embed)]
    copy: Book,
}

fn main() {}
