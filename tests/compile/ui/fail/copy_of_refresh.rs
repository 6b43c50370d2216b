use odm::bson::DateTime;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    price: i64,
}

// How `refresh` is written.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    product: Ref<Product>,
    #[odm(copy_of(product.price, refresh))]
    a: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1d")))]
    b: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1 day", at = seen)))]
    c: i64,
    #[odm(copy_of(product.price, refresh(older_than = "0s", at = seen)))]
    d: i64,
    #[odm(copy_of(product.price, refresh(age = "1d", at = seen)))]
    e: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = seen, at = seen)))]
    f: i64,
    seen: DateTime,
}

// What else the copy can't be.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i32,
    product: Ref<Product>,
    #[odm(copy_of(product.price, once, refresh(older_than = "1d", at = seen)))]
    a: i64,
    #[odm(copy_of(
        product.price,
        refresh(older_than = "1d", at = seen),
        allow_often = "few lines"
    ))]
    b: i64,
    seen: DateTime,
}

// What holds the time.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "carts")]
struct Cart {
    #[serde(rename = "_id")]
    id: i32,
    product: Ref<Product>,
    gift: Option<Ref<Product>>,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = sen)))]
    a: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = text)))]
    b: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = changed)))]
    c: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = forgotten)))]
    d: i64,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = d)))]
    e: i64,
    #[odm(copy_of(gift.price, refresh(older_than = "1d", at = last)))]
    f: Option<i64>,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = seen)))]
    g: i64,
    #[odm(copy_of(product.price, refresh(older_than = "2d", at = seen)))]
    h: i64,
    #[odm(copy_of(gift.price, refresh(older_than = "1d", at = given)))]
    i: Option<i64>,
    #[odm(copy_of(product.price, refresh(older_than = "1d", at = given)))]
    j: i64,
    seen: DateTime,
    last: DateTime,
    given: Option<DateTime>,
    text: String,
    #[odm(updated_at)]
    changed: DateTime,
    #[serde(skip)]
    forgotten: Option<DateTime>,
}

fn main() {}
