use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(created_at)]
    created: String,
    #[odm(updated_at)]
    updated: Vec<odm::bson::DateTime>,
}

fn main() {}
