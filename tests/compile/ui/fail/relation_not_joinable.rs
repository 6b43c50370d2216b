use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "guests")]
struct Guest {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
enum State {
    Free,
    Taken(Ref<Guest>),
}

#[derive(Serialize, Deserialize, Embedded)]
struct Line {
    guest: Ref<Guest>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "rooms")]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
    state: State,
    #[odm(references(many, max = 9))]
    before: Option<Vec<Ref<Guest>>>,
    #[odm(references(many, max = 9))]
    seats: Vec<Option<Ref<Guest>>>,
    #[odm(embed(few, max = 9))]
    lines: Vec<Line>,
}

async fn rows(rooms: Collection<Room>) {
    let _ = rooms.find_all().join(|r| r.state.taken);
    let _ = rooms.find_all().join(|r| r.before);
    let _ = rooms.find_all().join(|r| r.seats);
    let _ = rooms.find_all().join(|r| r.lines);
    let _ = rooms.find_all().join(|r| r.lines.guest);
}

fn main() {}
