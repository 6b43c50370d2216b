use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order = rank, depth = depth, count(children = size)))]
struct ByParent {
    #[serde(rename = "_id")]
    id: String,
    parent: Option<Ref<ByParent>>,
    rank: String,
    depth: i32,
    size: u64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references))]
struct ByChildren {
    #[serde(rename = "_id")]
    id: String,
    #[odm(references(many, max = 10))]
    children: Vec<Ref<ByChildren>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(array_of_ancestors))]
struct ByAncestors {
    #[serde(rename = "_id")]
    id: String,
    ancestors: Ancestors<ByParent>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path))]
struct ByPath {
    #[serde(rename = "_id")]
    id: String,
    path: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets))]
struct ByBounds {
    #[serde(rename = "_id")]
    id: String,
    left: Right,
    right: Left,
}

fn main() {}
