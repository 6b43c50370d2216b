use odm::prelude::*;

type Time = i64;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(created_at)]
    created: Time,
}

fn main() {}
