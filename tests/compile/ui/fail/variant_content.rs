//! Each variant of a document has an `_id`, and is stored under a name of its own.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Book(Book),
    // No `_id`.
    Nothing,
    Film { title: String },
    Game { id: i32 },
    // The tag of another variant, and its struct.
    #[serde(rename = "Book")]
    Novel { #[serde(rename = "_id")] id: i32 },
    Paperback(Book),
    // The name of a handle.
    Id { #[serde(rename = "_id")] id: i32 },
    #[serde(skip)]
    Lost { #[serde(rename = "_id")] id: i32 },
    // Kept by the writes of one model.
    Log { #[serde(rename = "_id")] id: i32, #[odm(version)] version: i64 },
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Generic<T> {
    One { #[serde(rename = "_id")] id: T },
}

fn main() {}
