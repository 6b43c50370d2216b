use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
struct Book {
    long_title: String,
}

fn main() {}
