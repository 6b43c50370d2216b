use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path, order = rank))]
struct Event {
    #[serde(rename = "_id")]
    at: DateTime,
    path: Materialized<Event>,
    rank: Rank,
}

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Name(String);

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path))]
struct Named {
    #[serde(rename = "_id")]
    name: Name,
    path: Materialized<Named>,
}

fn main() {}
