use odm::prelude::*;
use serde::{Deserialize, Serialize};

use std::collections::HashMap;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", deny_undeclared)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    rest: HashMap<String, String>
}

fn main() {}
