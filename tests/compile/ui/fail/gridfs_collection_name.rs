use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "photos", gridfs)]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
    filename: String,
}

fn main() {}
