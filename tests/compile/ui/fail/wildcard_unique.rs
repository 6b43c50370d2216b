use odm::prelude::*;
use serde::{Deserialize, Serialize};

use std::collections::HashMap;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", wildcard(meta, unique))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    meta: HashMap<String, String>
}

fn main() {}
