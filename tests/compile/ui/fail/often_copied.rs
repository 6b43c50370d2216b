use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products", has_many(lines: Line, by = product))]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(often)]
    stock: i32,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    #[odm(copy_of(product.stock))]
    stock: i32,
    // These say why.
    #[odm(copy_of(product.stock, once))]
    stock_then: i32,
    #[odm(copy_of(product.stock, allow_often = "a product has at most three lines"))]
    stock_now: i32,
    // There is nothing to allow.
    #[odm(copy_of(product.name, allow_often = "a name"))]
    name: String,
}

fn main() {}
