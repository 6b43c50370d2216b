//! What the shop stores, and what its clients send.

use odm::money::{Money, Usd};
use odm::prelude::*;

/// Stored, and served as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "products", text(title, blurb))]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: Id<Product>,
    #[odm(unique)]
    pub sku: String,
    #[odm(length(min = 1, max = 200))]
    pub title: String,
    pub blurb: String,
    #[serde(with = "odm::money::json::amount")]
    pub price: Money<Usd>,
    #[odm(range(min = 0))]
    pub stock: i32,
    #[odm(created_at)]
    pub created_at: Option<DateTime>,
}

/// What a client sends to make a product.
#[derive(Debug, Deserialize, Embedded)]
#[serde(deny_unknown_fields)]
pub struct NewProduct {
    pub sku: String,
    pub title: String,
    #[serde(default)]
    pub blurb: String,
    #[serde(with = "odm::money::json::amount")]
    pub price: Money<Usd>,
    pub stock: i32,
}

impl From<NewProduct> for Product {
    fn from(new: NewProduct) -> Self {
        Self {
            id: Id::new(),
            sku: new.sku,
            title: new.title,
            blurb: new.blurb,
            price: new.price,
            stock: new.stock,
            created_at: None,
        }
    }
}

/// What a client sends to change a product; what is missing stays as it is.
#[derive(Debug, Deserialize, Embedded)]
#[serde(deny_unknown_fields)]
pub struct ProductChange {
    #[serde(default, with = "odm::money::json::amount")]
    pub price: Option<Money<Usd>>,
    pub stock: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub struct Order {
    #[serde(rename = "_id")]
    pub id: Id<Order>,
    #[odm(embed(few, max = 50))]
    pub lines: Vec<Line>,
    #[serde(with = "odm::money::json::amount")]
    pub total: Money<Usd>,
    pub placed_at: DateTime,
}

/// A product as it was when it was ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Line {
    pub product: Ref<Product>,
    pub title: String,
    #[serde(with = "odm::money::json::amount")]
    pub price: Money<Usd>,
    #[odm(range(min = 1))]
    pub quantity: i32,
}

/// What a client sends to place an order.
#[derive(Debug, Deserialize, Embedded)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    #[odm(embed(few, max = 50))]
    pub lines: Vec<NewLine>,
}

#[derive(Debug, Deserialize, Embedded)]
#[serde(deny_unknown_fields)]
pub struct NewLine {
    pub product: Ref<Product>,
    pub quantity: i32,
}

/// What a client asks for in the query string; without either, all orders.
#[derive(Debug, Deserialize, Embedded)]
#[serde(deny_unknown_fields)]
pub struct OrderFilter {
    pub product: Option<Id<Product>>,
    pub since: Option<DateTime>,
}
