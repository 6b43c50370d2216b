use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order = rank), index(parent, rank, sparse))]
struct Sparse {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Sparse>,
    rank: Rank,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(array_of_ancestors))]
struct Unique {
    #[serde(rename = "_id")]
    id: String,
    #[odm(unique)]
    ancestors: Ancestors<Unique>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path, scope = shop), index(shop, path, collation(locale = "en")))]
struct Collated {
    #[serde(rename = "_id")]
    id: String,
    shop: String,
    path: Materialized<Collated>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, unique_among_siblings(name)),
    index(parent, name)
)]
struct Siblings {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Siblings>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets), index(left, partial = |c| c.right.gt(Right::new(2))))]
struct Partial {
    #[serde(rename = "_id")]
    id: String,
    left: Left,
    right: Right,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(child_references, unique_among_siblings(name))
)]
struct ByChildren {
    #[serde(rename = "_id")]
    id: String,
    children: Children<ByChildren>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(nested_sets, unique_among_siblings(name))
)]
struct Bounds {
    #[serde(rename = "_id")]
    id: String,
    left: Left,
    right: Right,
    name: String,
}

fn main() {}
