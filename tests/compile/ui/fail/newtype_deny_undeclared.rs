use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Embedded)]
#[odm(deny_undeclared)]
struct Isbn(String);

fn main() {}
