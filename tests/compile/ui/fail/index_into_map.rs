use std::collections::{BTreeMap, HashMap};

use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Place {
    row: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(places.row), index(counts.total))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    places: BTreeMap<String, Place>,
    counts: Option<HashMap<String, i32>>,
}

fn main() {}
