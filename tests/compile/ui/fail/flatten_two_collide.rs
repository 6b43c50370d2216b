use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
struct Inner {
    name: String,
}

#[derive(Serialize, Embedded)]
struct Book {
    #[serde(flatten)]
    one: Inner,
    #[serde(flatten)]
    two: Inner,
}

fn main() {}
