//! The variant of a document is in a tag beside its fields.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Internal)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Internal {
    Book(Book),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
enum External {
    Book(Book),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    Book(Book),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(untagged)]
enum Untagged {
    Book(Book),
}

fn main() {}
