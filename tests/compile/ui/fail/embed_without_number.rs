use std::collections::HashMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Library {
    #[odm(embed)]
    contacts: Vec<Contact>,
    #[odm(embed)]
    by_name: HashMap<String, Contact>,
}

fn main() {}
