use odm::bson::DateTime;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(created_at)]
    created: DateTime,
    #[odm(created_at)]
    inserted: DateTime,
    #[odm(updated_at)]
    updated: DateTime,
    #[odm(updated_at(server))]
    changed: DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(created_at, updated_at)]
    at: DateTime,
}

fn main() {}
