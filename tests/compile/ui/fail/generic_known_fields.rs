use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book<T> {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(range(min = 1))]
    pages: Title,
    more: T,
}

type Title = String;

fn main() {}
