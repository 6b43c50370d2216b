use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(refers_to(Book))]
    isbn: String,
    #[odm(on_delete = "nullify")]
    first: Ref<Book>,
    #[odm(on_delete = "set_null")]
    second: Ref<Book>,
    #[odm(on_delete = "cascade")]
    title: String,
}

fn main() {}
