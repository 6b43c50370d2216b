//! `currency` names no field.
use odm::money::{Amount, AnyCurrency};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(currency = curency)]
    price: Amount,
    currency: AnyCurrency,
}

fn main() {}
