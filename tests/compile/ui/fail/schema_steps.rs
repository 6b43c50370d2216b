use odm::bson;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

// The functions of the steps, which the compiler checks.
fn returns_a_document(document: &mut bson::Document) -> bson::Document {
    document.clone()
}

fn takes_a_document(document: bson::Document) {
    drop(document);
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(returns_a_document)))]
struct WrongResult {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(takes_a_document)))]
struct WrongArgument {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(missing)))]
struct Missing {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
