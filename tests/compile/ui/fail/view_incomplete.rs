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
#[odm(collection = "one", view)]
struct One {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "two", view(on = Book))]
struct Two {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "three", view(of = Book, pipeline = in_print))]
struct Three {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
