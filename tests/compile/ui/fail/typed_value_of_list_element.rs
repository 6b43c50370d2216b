use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    tags: Vec<String>,
    years: Option<Vec<i32>>,
}

fn main() {
    let b = fields::<Book>();
    let _ = b.tags.eq("a");
    let _ = b.years.eq(1922);
    let _ = b.tags.set("a");
}
