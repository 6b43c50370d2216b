use odm::prelude::*;
use serde::Serialize;

type Name = String;

#[derive(Serialize, Embedded)]
struct Book {
    #[serde(flatten)]
    name: Name,
}

fn main() {}
