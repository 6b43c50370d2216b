use odm::prelude::*;
use uuid::Uuid;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: Uuid,
    batch: Uuid,
    sequel: Option<Ref<Book>>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct ImportId(Uuid);

fn main() {}
