use odm::prelude::*;

const PHOTOS: &str = "photos";

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = PHOTOS, gridfs)]
struct Photo {
    #[serde(rename = "_id")]
    id: i32,
    filename: String,
}

fn main() {}
