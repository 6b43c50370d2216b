use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Names = Vec<String>;
type Contacts = Vec<Contact>;

#[derive(Serialize, Deserialize, Embedded)]
struct Contact {
    name: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Refused {
    #[odm(unbounded = "")]
    contacts: Vec<Contact>,
    #[odm(unbounded)]
    others: Vec<Contact>,
    #[odm(unbounded = "a reason")]
    names: Vec<String>,
    #[odm(unbounded = "a reason", embed(few, max = 3))]
    few: Contacts,
    #[odm(unbounded = "a reason", items(max = 3))]
    more: Contacts,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Asserted {
    #[odm(unbounded = "a reason")]
    names: Names,
    #[odm(unbounded = "a reason")]
    contact: Contact,
    #[odm(unbounded = "a reason")]
    pair: [Contact; 2],
}

fn main() {}
