use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Review {
    #[odm(length(max = 1_000))]
    text: String,
    stars: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products", budget = "512KiB")]
struct Product {
    #[serde(rename = "_id")]
    id: Id<Self>,
    #[odm(length(max = 100))]
    name: String,
    #[odm(embed(few, max = 200))]
    reviews: Vec<Review>,
    price: f64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "makers", budget(max = "1KiB", allow = "makers are small"))]
struct Maker {
    #[serde(rename = "_id")]
    id: Id<Self>,
}

fn main() {}
