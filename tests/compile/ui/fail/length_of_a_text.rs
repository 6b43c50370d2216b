use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length = 13)]
    isbn: String,
    #[odm(length = 0)]
    pages: Vec<i32>,
}

fn main() {}
