use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(name: LogMessage, by = host), has_one(last: LogMessage, by = host), has_many(last: LogMessage, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "logmsg", has_many(LogMessage))]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "other", has_many(logs: LogMessage, via = host))]
struct Other {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(has_many(logs: LogMessage, by = host))]
struct Inside {
    id: i32,
}

fn main() {}
