use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
#[serde(tag = "kind")]
struct Shape {
    kind: String,
}

fn main() {}
