use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
enum Shape {
    Aa { a: i32 },
    #[serde(rename = "other")]
    aa { a: i32 },
}

fn main() {}
