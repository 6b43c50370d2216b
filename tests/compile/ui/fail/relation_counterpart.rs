use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(LogMessage, max = 10))]
    logmsgs: Vec<i32>,
    #[odm(two_way(owner))]
    owner: Ref<Host>,
    #[odm(rest_of = details)]
    name: String,
    #[odm(rest_of = details)]
    parts: Option<Ref<Host>>,
    #[odm(two_way = a, recent_in = b)]
    twice: Ref<Host>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Inside {
    #[odm(two_way = owner)]
    host: Ref<Plain>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "plain", of = Host)]
struct Plain {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
