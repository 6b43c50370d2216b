//! What the shop stores.

use chrono::NaiveDate;
use odm::dbref::DbRef;
use odm::money::{AnyMoney, Money, PreciseMoney, Usd};
use odm::prelude::*;
use odm::time::{Iso, LocalTime};
use uuid::Uuid;

/// This file, which the example prints beside the stored documents.
pub(crate) const SOURCE: &str = include_str!("models.rs");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "suppliers")]
pub(crate) struct Supplier {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "products", index(supplier), index(weight_rate.currency, weight_rate.approx))]
pub(crate) struct Product {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) title: String,
    /// As they are given.
    #[odm(keywords(max = 20))]
    pub(crate) topics: Vec<String>,
    /// Computed from the title.
    #[odm(keywords(from(title), language = "english", max = 20))]
    pub(crate) words: Vec<String>,
    #[odm(index)]
    pub(crate) price: Money<Usd>,
    /// For each milligram.
    pub(crate) weight_rate: PreciseMoney,
    pub(crate) supplier: DbRef<Supplier>,
    #[odm(created_at)]
    pub(crate) created_at: Option<DateTime>,
    #[odm(updated_at)]
    pub(crate) updated_at: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(crate) struct Order {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) product: DbRef<Product>,
    /// In the time of the customer.
    #[odm(index)]
    pub(crate) placed: LocalTime<Iso>,
    pub(crate) total: AnyMoney,
    /// Text that sorts, `2026-04-02`.
    #[serde(with = "odm::chrono_0_4")]
    #[odm(index)]
    pub(crate) due: NaiveDate,
    /// Binary data of the subtype 4.
    #[serde(with = "odm::uuid_1")]
    pub(crate) parcel: Uuid,
}
