use odm::bson;
use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    has_many(
        in_print: InPrint,
        by = author,
        allow_scan = "it is a view",
        on_delete = restrict
    )
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(in_print))]
    count: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    author: Ref<Author>,
}

fn all() -> Vec<bson::Document> {
    Vec::new()
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "in_print",
    view(on = Book, pipeline = all),
    has_many(offers: Offer, by = book)
)]
struct InPrint {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    author: Ref<Author>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    book: Ref<InPrint>,
    #[odm(copy_of(book.title))]
    title: String,
}

fn main() {}
