use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "unbounded")]
struct Unbounded {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords)]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "zero")]
struct Zero {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 0))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "many")]
struct Many {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 1_000))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "allowed")]
struct Allowed {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 100, allow = "a few more"))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "twice")]
struct Twice {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10), keywords(max = 20))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "indexed")]
struct Indexed {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10), index)]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "unique")]
struct Unique {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique, keywords(max = 10))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "onstruct", index(topics))]
struct OnStruct {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "items")]
struct Items {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10), items(max = 10))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "uniqueitems")]
struct UniqueItems {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10), unique_items)]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "misspelt")]
struct Misspelt {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(most = 10))]
    topics: Vec<String>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Inside {
    #[odm(keywords(max = 10))]
    topics: Vec<String>,
}

fn main() {}
