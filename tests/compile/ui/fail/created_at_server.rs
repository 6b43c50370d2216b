use odm::bson::DateTime;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(created_at(server))]
    created: DateTime,
    #[odm(updated_at(client))]
    updated: DateTime,
}

fn main() {}
