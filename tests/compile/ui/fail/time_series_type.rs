use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Name = String;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", time_series(time = at))]
struct Reading {
    #[serde(rename = "_id")]
    id: i32,
    at: Name,
}

fn main() {}
