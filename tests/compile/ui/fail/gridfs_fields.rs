use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "photos.files", gridfs)]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
    filename: i32,
    length: String,
    #[serde(rename = "uploadDate")]
    uploaded: i64,
}

fn main() {}
