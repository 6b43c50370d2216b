//! A number has no currency.
use odm::money::AnyCurrency;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(currency = currency)]
    price: i64,
    currency: AnyCurrency,
}

fn main() {}
