use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "hosts",
    has_many(notes: Note, by = host, allow_scan = "a host has notes while it is being set up, and there are few hosts"),
    has_one(twin: Twin, by = id)
)]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "twins")]
struct Twin {
    #[serde(rename = "_id")]
    id: Ref<Host>,
}
