use odm::prelude::*;
use serde::{Deserialize, Serialize};

// A touch increments the version: a document without one has nothing that MongoDB would write.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "rooms")]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
}

async fn lock(rooms: Collection<Room>) -> odm::Result<()> {
    rooms.touch(&1).await?;
    Ok(())
}

fn main() {}
