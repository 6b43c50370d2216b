use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(type: Message, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
}

fn main() {}
