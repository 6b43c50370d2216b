use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = 'b')]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
