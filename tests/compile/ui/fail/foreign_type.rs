use odm::prelude::*;

struct Theirs;

#[derive(Embedded)]
struct Book {
    theirs: Theirs,
}

fn main() {}
