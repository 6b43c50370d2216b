use odm::dbref::{AnyDbRef, DbRef};
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    publisher: DbRef<Publisher>,
    #[odm(references(many, max = 10))]
    shelves: Vec<DbRef<Publisher>>,
    about: AnyDbRef,
}

fn ids_are_no_references(books: &Collection<Book>) {
    let _ = books.find(|b| b.publisher.eq(7));
}

fn untyped_references_are_not_joined(books: &Collection<Book>) {
    let _ = books.find_all().join(|b| b.about);
}

fn rows_are_not_filtered_through_references(books: &Collection<Book>) {
    let _ = books.find_all().where_any(|b| b.shelves, |p| p.id.eq(7));
    let _ = books.find_all().where_any(|b| b.publisher, |p| p.id.eq(7));
}

fn main() {}
