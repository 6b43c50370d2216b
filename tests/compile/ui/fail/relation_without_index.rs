use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_squillions(messages: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "logmsg", index(time, host))]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
    time: i64,
}

fn main() {}
