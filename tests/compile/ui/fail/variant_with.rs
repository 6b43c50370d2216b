use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
enum Shape {
    #[serde(serialize_with = "write")]
    Circle(i32),
    Empty,
}

fn write<S: serde::Serializer>(radius: &i32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(*radius)
}

fn main() {}
