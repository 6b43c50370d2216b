use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(often)]
    price: i64,
}

/// The name shows no more than that it may be a date.
type DateTime = String;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    product: Ref<Product>,
    // No relation and no reason: a change does not look for it.
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = checked)))]
    price: i64,
    checked: odm::bson::DateTime,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = seen)))]
    other_price: i64,
    seen: DateTime,
    // The type still has to fit.
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = checked)))]
    text: String,
}

fn main() {}
