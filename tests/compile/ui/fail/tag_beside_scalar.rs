use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Tagged {
    kind: String,
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Shape {
    Unit(()),
    Side(i32),
    Sides(Vec<i32>),
    Maybe(Option<Tagged>),
    Twice(Tagged),
}

fn main() {}
