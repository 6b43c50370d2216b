use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "desks", has_one(lamp: Lamp, by = desk))]
struct Desk {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "lamps")]
struct Lamp {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    desk: Option<Ref<Desk>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "rooms", has_one(key: Key, by = room))]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "keys")]
struct Key {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    room: Option<Ref<Room>>,
}

fn main() {}
