use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: Id<Author>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: Id<Book>,
    author: Ref<Author>,
}

fn ids(books: Collection<Book>, authors: Collection<Author>, book: Book, text: String) {
    let _ = books.get("65f1c0ffee65f1c0ffee65f1");
    let _ = books.get(text);
    let _ = books.get(odm::bson::oid::ObjectId::new());
    let _ = books.get(&book.author);
    let _ = books.find(|b| b.id.eq("65f1c0ffee65f1c0ffee65f1"));
    let _ = authors.find(|a| a.id.eq(&book.author));
}

fn main() {}
