use odm::bson::DateTime;
use odm::prelude::*;

fn epoch() -> DateTime {
    DateTime::from_millis(0)
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default = "epoch")]
    #[odm(created_at)]
    created: DateTime,
}

fn main() {}
