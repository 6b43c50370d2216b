use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "shops", index(street = "2dsphere"))]
struct Shop {
    #[serde(rename = "_id")]
    id: i32,
    street: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Inside {
    area: f64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "malls", index(inside.area = "2dsphere"))]
struct Mall {
    #[serde(rename = "_id")]
    id: i32,
    inside: Inside,
}

type Meters = f64;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "parks", index(width = "2dsphere"))]
struct Park {
    #[serde(rename = "_id")]
    id: i32,
    width: Meters,
}

fn main() {}
