use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct NoParent {
    #[serde(rename = "_id")]
    id: String,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets))]
struct NoBounds {
    #[serde(rename = "_id")]
    id: String,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets))]
struct NoRight {
    #[serde(rename = "_id")]
    id: String,
    left: Left,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, parent = parnt, order = ranks))]
struct Misspelt {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Misspelt>,
    rank: Rank,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, scope = shops))]
struct Scoped {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Scoped>,
    shop: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, unique_among_siblings(nmae))
)]
struct Unique {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Unique>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets, left = place, right = place))]
struct OneField {
    #[serde(rename = "_id")]
    id: String,
    place: Left,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order = parent))]
struct PatternField {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<PatternField>,
}

fn main() {}
