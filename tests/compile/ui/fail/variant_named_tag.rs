use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Shape {
    Tag { a: i32 },
}

fn main() {}
