use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(table = "books", rename_all = "camelCase")]
struct Book {
    #[odm(primary_key)]
    #[serde(rename = "_id")]
    id: i32,
    #[odm(required, max_length = 100)]
    title: String,
    #[odm(min = 1450)]
    year: i32,
    #[odm(regex = "^[0-9]+$")]
    isbn: String,
    #[odm(ref = Author)]
    author: i32,
    #[odm(ttl = "1h")]
    seen: DateTime,
    #[odm(frobnicate)]
    other: i32,
}

fn main() {}
