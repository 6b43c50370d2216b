use odm::prelude::*;

const BOOKS: &str = "books$";
const NUMBER: i32 = 1;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = BOOKS)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = NUMBER)]
struct Patron {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
