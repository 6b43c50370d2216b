use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Library {
    #[odm(embed)]
    number: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Branch {
    #[odm(embed(few, max = 2))]
    contact: Contact,
}

fn main() {}
