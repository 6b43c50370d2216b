use odm::bson::{self, doc};
use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    stock: i32,
}

fn in_print() -> Vec<bson::Document> {
    vec![doc! {"$match": {"stock": {"$gt": 0}}}]
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "in_print",
    view(on = Book, pipeline = in_print),
    index(title),
    validation(level = "moderate"),
    capped(size = 4096),
    deny_undeclared,
    change_stream_images
)]
struct InPrint {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(max = 10))]
    title: String,
    #[odm(unique)]
    isbn: String,
    #[odm(version)]
    version: i64,
    #[odm(created_at)]
    created: DateTime,
    #[odm(keywords(max = 10))]
    keywords: Vec<String>,
}

fn main() {}
