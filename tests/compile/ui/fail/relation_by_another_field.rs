use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(messages: LogMessage, by = level))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "logmsg")]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
    #[odm(index)]
    level: i32,
}

fn main() {}
