use odm::prelude::*;
use serde::Serialize;

struct Theirs {
    a: i32,
}

#[derive(Serialize, Embedded)]
#[serde(remote = "Theirs")]
struct Ours {
    a: i32,
}

fn main() {}
