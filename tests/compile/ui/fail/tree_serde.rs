use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct Skipped {
    #[serde(rename = "_id")]
    id: String,
    #[serde(skip)]
    parent: Parent<Skipped>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct Sometimes {
    #[serde(rename = "_id")]
    id: String,
    #[serde(skip_serializing_if = "Parent::is_root")]
    parent: Parent<Sometimes>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, depth = depth))]
struct Flattened {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Flattened>,
    #[serde(flatten)]
    depth: Depth,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(array_of_ancestors, ancestors = above))]
struct With {
    #[serde(rename = "_id")]
    id: String,
    #[serde(with = "own")]
    above: Ancestors<With>,
}

fn main() {}
