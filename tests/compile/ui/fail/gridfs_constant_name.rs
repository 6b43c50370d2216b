use odm::prelude::*;
use serde::{Deserialize, Serialize};

const PHOTOS: &str = "photos";

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = PHOTOS, gridfs)]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
    filename: String,
}

fn main() {
    Db::memory().gridfs::<Photo>();
}
