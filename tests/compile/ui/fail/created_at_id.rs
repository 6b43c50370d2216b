use odm::bson::DateTime;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    #[odm(created_at)]
    id: DateTime,
    #[serde(skip_serializing)]
    #[odm(updated_at)]
    updated: DateTime,
}

fn main() {}
