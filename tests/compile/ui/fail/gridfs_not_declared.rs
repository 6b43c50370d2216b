use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "photos.files")]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {
    Db::memory().gridfs::<Photo>();
}
