use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
struct Isbn(#[odm(length(min = 10))] String);

fn main() {}
