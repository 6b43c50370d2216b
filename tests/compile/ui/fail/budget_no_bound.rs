use odm::prelude::*;
use serde::{Deserialize, Serialize};

use std::collections::HashMap;

#[derive(Serialize, Deserialize, Embedded)]
struct Review {
    text: String,
}

#[derive(Serialize, Deserialize, Embedded)]
enum Note {
    Text(String),
    Stars(i32),
}

#[derive(Serialize, Deserialize, Embedded)]
struct Isbn(String);

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products", budget = "1MiB")]
struct Product {
    #[serde(rename = "_id")]
    id: String,
    name: Option<String>,
    isbn: Isbn,
    #[odm(embed(few, max = 20))]
    reviews: Vec<Review>,
    note: Note,
    #[odm(length(max = 10))]
    tags: Vec<String>,
    #[odm(items(max = 10))]
    matrix: Vec<Vec<i32>>,
    #[odm(items(max = 10))]
    sizes: HashMap<String, i32>,
    picture: odm::bson::Binary,
    extra: Bson,
    #[serde(with = "stamp")]
    #[odm(bson_type = "date")]
    made: i64,
    #[serde(with = "stamp")]
    sold: i64,
    #[odm(unbounded = "a product has few makers")]
    makers: Vec<Ref<Product>>,
    #[serde(flatten)]
    rest: odm::bson::Document,
}

mod stamp {
    use super::*;

    pub fn serialize<S: serde::Serializer>(at: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        DateTime::from_millis(*at).serialize(serializer)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        DateTime::deserialize(deserializer).map(DateTime::timestamp_millis)
    }
}

fn main() {}
