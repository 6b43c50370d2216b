use odm::dbref::DbRef;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    publisher: DbRef<Publisher>,
    #[odm(two_way = books)]
    reprint: DbRef<Publisher>,
    shelves: Vec<DbRef<Publisher>>,
    #[odm(embed(few, max = 10))]
    others: Vec<DbRef<Publisher>>,
}

fn main() {}
