use odm::prelude::*;
use serde::{Deserialize, Serialize};

// The elements of a list of the newest are parts of the other model's documents.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(LogMessage, max = 10, sort = time))]
    logmsgs: Vec<Line>,
    #[odm(recent(LogMessage, max = 10, sort = level))]
    warnings: Vec<Warning>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "logmsg")]
struct LogMessage {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent_in = logmsgs)]
    host: Ref<Host>,
    #[odm(recent_in = warnings)]
    other: Ref<Host>,
    time: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Line {
    time: i32,
}

#[derive(Serialize, Deserialize, Embedded, Projection)]
#[odm(of = LogMessage)]
struct Warning {
    time: i32,
}

fn main() {}
