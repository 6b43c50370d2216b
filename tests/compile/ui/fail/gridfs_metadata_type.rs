use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Shot {
    stars: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "photos.files", gridfs)]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
    metadata: Option<Shot>,
}

fn main() {
    let photos = Db::memory().gridfs::<Photo>();
    let _ = photos.upload("cat.jpg").metadata(&"a cat");
}
