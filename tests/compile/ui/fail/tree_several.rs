use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references),
    tree(array_of_ancestors)
)]
struct Unnamed {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Unnamed>,
    ancestors: Ancestors<Unnamed>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references), tree(array_of_ancestors, name = ByAncestors))]
struct OneName {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<OneName>,
    ancestors: Ancestors<OneName>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, name = Same), tree(array_of_ancestors, name = Same))]
struct SameName {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<SameName>,
    ancestors: Ancestors<SameName>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, name = OwnName))]
struct OwnName {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<OwnName>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, name = ByOne), tree(parent_references, name = ByOther))]
struct OneField {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<OneField>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order = rank, scope = shop, name = ByRegion), tree(array_of_ancestors, order = rank, scope = shop, name = BySubject))]
struct OneRank {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<OneRank>,
    ancestors: Ancestors<OneRank>,
    rank: Rank,
    shop: String,
}

fn main() {}
