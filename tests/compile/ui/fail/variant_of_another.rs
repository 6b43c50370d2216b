//! A variant holds a struct that names the enum, and a struct names an enum that holds it.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Book(Book),
    Film(Film),
    Game(Game),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
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

fn main() {}
