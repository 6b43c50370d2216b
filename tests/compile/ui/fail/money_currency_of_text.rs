//! The currency of an amount is a string.
use odm::money::Amount;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(currency = currency)]
    price: Amount,
    currency: String,
}

fn main() {}
