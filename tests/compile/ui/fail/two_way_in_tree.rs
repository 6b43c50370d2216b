//! Operations of a tree write no other collection, so a node has no other side.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "folders", tree(parent_references))]
struct Folder {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Folder>,
    #[odm(index, two_way = folders)]
    owner: Option<Ref<Owner>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 10), two_way = owner)]
    folders: Vec<Ref<Folder>>,
}

fn main() {}
