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

fn one_stage() -> bson::Document {
    doc! {"$limit": 1}
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "one", view(on = Book, pipeline = one_stage))]
struct One {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "two", view(on = String, pipeline = in_print))]
struct Two {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
