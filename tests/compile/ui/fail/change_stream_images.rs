use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[odm(change_stream_images)]
struct Line {
    #[odm(change_stream_images)]
    what: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "orders", change_stream_image)]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    lines: Vec<Line>,
}

fn main() {}
