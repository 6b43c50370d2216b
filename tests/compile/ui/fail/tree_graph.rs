use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, graph))]
struct ByParent {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<ByParent>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, graph, parent = parent))]
struct WithParent {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<WithParent>,
    children: Children<WithParent>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, graph, on_delete = cascade))]
struct Cascade {
    #[serde(rename = "_id")]
    id: String,
    children: Children<Cascade>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, graph, order = rank, count(descendants = size)))]
struct Ordered {
    #[serde(rename = "_id")]
    id: String,
    children: Children<Ordered>,
    rank: Rank,
    size: NodeCount,
}

fn main() {}
