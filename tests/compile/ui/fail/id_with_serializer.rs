use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id", serialize_with = "write")]
    id: i32,
}

fn write<S: serde::Serializer>(id: &i32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(*id)
}

fn main() {}
