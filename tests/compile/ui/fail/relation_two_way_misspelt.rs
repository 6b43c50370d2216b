use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 20), two_way = ownr)]
    tasks: Vec<Ref<Task>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    owner: Ref<Person>,
}

fn main() {}
