//! Data that derives from documents of several models is not kept in step.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(books))]
    count: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Book(Book),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium, has_many(reviews: Review, by = book))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(index)]
    author: Ref<Author>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    book: Ref<Book>,
    #[odm(copy_of(book.title))]
    title: String,
}

fn main() {}
