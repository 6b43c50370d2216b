use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(serialize_with = "write")]
    #[odm(bson_type = "dat")]
    time: i64,
}

fn write<S: serde::Serializer>(time: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    DateTime::from_millis(*time).serialize(serializer)
}

fn main() {}
