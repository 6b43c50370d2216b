//! Products with summaries of every kind, over every form of numbers.

use odm::bson::{DateTime, Decimal128};
use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "products",
    has_many(reviews: Review, by = product),
    has_squillions(sales: Sale, by = place.code, key = code)
)]
pub(super) struct Product {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(unique)]
    pub(super) code: i64,
    #[odm(version)]
    pub(super) version: i64,
    #[serde(rename = "n")]
    #[odm(count_of(reviews))]
    pub(super) review_count: i64,
    #[odm(count_of(reviews))]
    pub(super) count_int: i32,
    #[odm(sum_of(reviews.int))]
    pub(super) sum_int: i32,
    #[odm(sum_of(reviews.long))]
    pub(super) sum_long: i64,
    #[odm(sum_of(reviews.double))]
    pub(super) sum_double: f64,
    #[odm(sum_of(reviews.decimal))]
    pub(super) sum_decimal: Decimal128,
    #[odm(sum_of(reviews.long))]
    pub(super) long_as_double: f64,
    #[odm(sum_of(reviews.long))]
    pub(super) long_as_decimal: Decimal128,
    #[odm(mean_of(reviews.int))]
    pub(super) mean_int: Option<f64>,
    #[odm(mean_of(reviews.decimal))]
    pub(super) mean_decimal: Option<Decimal128>,
    #[odm(mean_of(reviews.int))]
    pub(super) int_as_decimal: Option<Decimal128>,
    #[odm(min_of(reviews.int))]
    pub(super) min_int: Option<i32>,
    #[odm(max_of(reviews.long))]
    pub(super) max_long: Option<i64>,
    #[odm(min_of(reviews.double))]
    pub(super) min_double: Option<f64>,
    #[odm(max_of(reviews.decimal))]
    pub(super) max_decimal: Option<Decimal128>,
    #[odm(min_of(reviews.date))]
    pub(super) first: Option<DateTime>,
    #[odm(max_of(reviews.text))]
    pub(super) last_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[odm(max_of(reviews.rating.stars))]
    pub(super) best: Option<i32>,
    #[odm(count_of(sales))]
    pub(super) sale_count: i64,
    #[odm(sum_of(sales.amount))]
    pub(super) sold: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
pub(super) struct Review {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index)]
    pub(super) product: Option<Ref<Product>>,
    pub(super) int: i32,
    pub(super) long: i64,
    pub(super) double: f64,
    pub(super) decimal: Decimal128,
    pub(super) date: DateTime,
    pub(super) text: String,
    pub(super) rating: Option<Rating>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Rating {
    #[serde(rename = "s")]
    pub(super) stars: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sales", index(place.code))]
pub(super) struct Sale {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) place: Place,
    pub(super) amount: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Place {
    #[odm(refers_to(Product, by = code))]
    pub(super) code: i64,
}

pub(super) fn decimal(text: &str) -> Decimal128 {
    text.parse().unwrap()
}

pub(super) fn product(id: i32) -> Product {
    Product {
        id,
        code: i64::from(id) * 10,
        version: 1,
        review_count: 0,
        count_int: 0,
        sum_int: 0,
        sum_long: 0,
        sum_double: 0.0,
        sum_decimal: decimal("0"),
        long_as_double: 0.0,
        long_as_decimal: decimal("0"),
        mean_int: None,
        mean_decimal: None,
        int_as_decimal: None,
        min_int: None,
        max_long: None,
        min_double: None,
        max_decimal: None,
        first: None,
        last_text: None,
        best: None,
        sale_count: 0,
        sold: 0,
    }
}

pub(super) fn review(id: i32, product: i32) -> Review {
    Review {
        id,
        product: Some(Ref::from(product)),
        int: id,
        long: i64::from(id) * 5_000_000_000,
        double: f64::from(id) / 4.0,
        decimal: decimal(&format!("{id}.5")),
        date: DateTime::from_millis(i64::from(id) * 1_000),
        text: format!("t{id}"),
        rating: (id % 2 == 0).then_some(Rating { stars: Some(id) }),
    }
}

pub(super) fn sale(id: i32, code: i64) -> Sale {
    Sale {
        id,
        place: Place { code },
        amount: i64::from(id),
    }
}
