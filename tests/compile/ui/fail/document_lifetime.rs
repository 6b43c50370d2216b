use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book<'a> {
    #[serde(rename = "_id")]
    id: i32,
    title: &'a str,
}

fn main() {}
