use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_reference))]
struct Pattern {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Pattern>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, ordre = rank))]
struct Unknown {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Unknown>,
    rank: Rank,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree)]
struct Bare {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Bare>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree())]
struct Empty {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Empty>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent = parent))]
struct First {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<First>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, on_delete = nullify))]
struct Policy {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Policy>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, on_delete = "cascade")
)]
struct Quoted {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Quoted>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, name = "by_region"))]
struct Named {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Named>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order))]
struct NoField {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<NoField>,
    rank: Rank,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, depth = 3))]
struct DepthOf {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<DepthOf>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order = rank, order = rank))]
struct Twice {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Twice>,
    rank: Rank,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, count(child = children)))]
struct Counts {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Counts>,
    children: NodeCount,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, count()))]
struct NoCount {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<NoCount>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, graph = true))]
struct Flag {
    #[serde(rename = "_id")]
    id: String,
    children: Children<Flag>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, unique_among_siblings = name))]
struct Unique {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Unique>,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, unique_among_siblings())
)]
struct NoUnique {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<NoUnique>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(
        parent_references,
        unique_among_siblings(name),
        unique_among_siblings(slug)
    )
)]
struct UniqueTwice {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<UniqueTwice>,
    name: String,
    slug: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, max_depth = 0))]
struct NoDepth {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<NoDepth>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, max_children = 0))]
struct NoChildren {
    #[serde(rename = "_id")]
    id: String,
    children: Children<NoChildren>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, max_children = 10))]
struct Unbounded {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Unbounded>,
}

fn main() {}
