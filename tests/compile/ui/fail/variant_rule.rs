use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
enum Shape {
    Circle(#[odm(range(min = 0))] i32),
    Empty,
}

fn main() {}
