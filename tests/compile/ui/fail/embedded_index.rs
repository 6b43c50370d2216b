use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Book {
    #[odm(index)]
    title: String,
}

fn main() {}
