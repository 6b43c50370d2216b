use odm::prelude::*;
use serde::Serialize;

type Rest = std::collections::HashMap<String, i32>;

#[derive(Serialize, Embedded)]
struct Inner {
    #[serde(rename = "title")]
    name: String,
}

#[derive(Serialize, Embedded)]
struct Book {
    title: String,
    #[serde(flatten)]
    inner: Option<Inner>,
    #[serde(flatten)]
    rest: Rest,
}

fn main() {}
