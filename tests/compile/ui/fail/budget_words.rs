use odm::prelude::*;
use odm::bson::Bson;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", budget = "17MiB")]
struct A {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "b", budget = "1 megabyte")]
struct B {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "c", budget(max = "10B", allow = " "))]
struct C {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "d", budget(allow = "it is large"))]
struct D {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "e", budget = "1MiB")]
struct E<T> {
    #[serde(rename = "_id")]
    id: i32,
    value: T,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "f", budget = 0)]
struct F {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(bytes(min = 1))]
    value: Bson,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(budget = "1KiB")]
struct G {
    size: i32,
}

fn main() {}
