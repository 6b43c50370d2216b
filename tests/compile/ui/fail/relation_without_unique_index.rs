use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_one(setup: Setup, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "setups", index(host))]
struct Setup {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
}

fn main() {}
