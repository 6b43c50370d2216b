//! The handle of a variant is of one that the enum has.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Book(Book),
}

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
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "games")]
struct Game {
    #[serde(rename = "_id")]
    id: i32,
}

fn games(media: &Collection<Medium>) -> Collection<Game> {
    media.variant::<Game>()
}

fn main() {}
