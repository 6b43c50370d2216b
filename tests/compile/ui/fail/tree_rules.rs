use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, count(children = size)))]
struct ByChildren {
    #[serde(rename = "_id")]
    id: String,
    #[odm(items(max = 3))]
    children: Children<ByChildren>,
    #[odm(range(max = 3))]
    size: NodeCount,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(array_of_ancestors, depth = depth))]
struct ByAncestors {
    #[serde(rename = "_id")]
    id: String,
    #[odm(unique_items)]
    ancestors: Ancestors<ByAncestors>,
    #[odm(range(max = 5))]
    depth: Depth,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path))]
struct ByPath {
    #[serde(rename = "_id")]
    id: String,
    #[odm(pattern = "^,")]
    path: Materialized<ByPath>,
}

fn main() {}
