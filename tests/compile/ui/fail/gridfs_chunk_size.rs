use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "photos.files", gridfs(chunk_size = "16MiB"))]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
    filename: String,
}

fn main() {}
