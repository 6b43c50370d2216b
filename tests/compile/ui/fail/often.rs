use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products", has_many(lines: Line, by = product))]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(often)]
    stock: i32,
    #[odm(often = "each minute")]
    visits: i64,
    details: Details,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Details {
    #[odm(often)]
    price: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    #[odm(copy_of(product.stock, allow_often = ""))]
    a: i32,
    #[odm(copy_of(product.stock, seldom))]
    b: i32,
}

fn main() {}
