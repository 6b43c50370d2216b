//! The `_id`s of all variants have one type.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Film {
    #[serde(rename = "_id")]
    id: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Book(Book),
    Film(Film),
    Game { #[serde(rename = "_id")] id: i64 },
}

fn main() {}
