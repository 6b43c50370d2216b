use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(messages: Message, by = host), has_many(alerts: Alert, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "messages", index(host, partial = |m| m.id.gt(7)))]
struct Message {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "alerts", index(host, sparse))]
struct Alert {
    #[serde(rename = "_id")]
    id: i32,
    host: Option<Ref<Host>>,
}

fn main() {}
