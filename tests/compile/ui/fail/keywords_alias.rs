use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Topics = Vec<i64>;

#[derive(Serialize, Deserialize, Embedded)]
struct Topic(i32);

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "aliased")]
struct Aliased {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: Topics,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "wrapped")]
struct Wrapped {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: Vec<Topic>,
}

fn main() {}
