use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Shape {
    Circle {
        #[serde(rename = "kind")]
        sort: String,
    },
}

fn main() {}
