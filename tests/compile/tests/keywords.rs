use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Topic(String);

type Topics = Vec<String>;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "wrapped")]
struct Wrapped {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 200))]
    topics: Vec<Topic>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "aliased")]
struct Aliased {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: Option<Topics>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "sets", index(topics, id = desc))]
struct Sets {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 300, allow = "subject headings of a whole encyclopedia"))]
    topics: std::collections::BTreeSet<String>,
}
