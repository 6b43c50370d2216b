use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references),
    collation(locale = "en")
)]
struct Collated {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Collated>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references),
    capped(size = 4096)
)]
struct Capped {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Capped>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct Generic<T> {
    #[serde(rename = "_id")]
    id: String,
    value: T,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(tree(parent_references))]
struct Inside {
    #[serde(rename = "_id")]
    id: String,
    parent: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
enum Either {
    One { parent: String },
}

fn main() {}
