use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, scope = shops))]
struct List {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<List>,
    shops: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, scope = id))]
struct ById {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<ById>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, scope = parent))]
struct Kept {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Kept>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, scope = shop))]
struct Skipped {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Skipped>,
    #[serde(skip)]
    shop: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, scope = shop, unique_among_siblings(shop)))]
struct Within {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Within>,
    shop: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, unique_among_siblings(name, parent))
)]
struct WithinParent {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<WithinParent>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, unique_among_siblings(name, name))
)]
struct Twice {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Twice>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, unique_among_siblings(name))
)]
struct Unstored {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Unstored>,
    #[serde(skip)]
    name: String,
}

fn main() {}
