use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32,
    price: f64,
    sold: bool,
    tags: Vec<String>,
    place: Place,
    #[odm(embed(few, max = 10))]
    copies: Vec<Place>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Place {
    shelf: String,
}

fn main() {
    let b = fields::<Book>();
    let _ = b.year.size(3);
}
