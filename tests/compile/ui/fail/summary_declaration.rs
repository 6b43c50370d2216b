use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    stars: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "details")]
struct Details {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique, rest_of = details)]
    product: Ref<Product>,
    pages: i32,
}

// What the words name.
#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "products",
    has_many(reviews: Review, by = product),
    subset(details: Details, by = product)
)]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(reviws))]
    a: i64,
    #[odm(sum_of(details.pages))]
    b: i64,
    #[odm(count_of(reviews.stars))]
    c: i64,
    #[odm(sum_of(reviews))]
    d: i64,
    #[odm(max_of = reviews)]
    e: Option<i32>,
    #[odm(min_of())]
    f: Option<i32>,
    #[odm(min_of(reviews.stars), max_of(reviews.stars))]
    g: Option<i32>,
    #[odm(mean_off(reviews.stars))]
    h: Option<f64>,
}

// What the types are.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "items", has_many(reviews: ItemReview, by = item))]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(reviews))]
    a: Option<i64>,
    #[odm(count_of(reviews))]
    b: f64,
    #[odm(sum_of(reviews.stars))]
    c: Option<i64>,
    #[odm(sum_of(reviews.stars))]
    d: String,
    #[odm(mean_of(reviews.stars))]
    e: f64,
    #[odm(mean_of(reviews.stars))]
    f: Option<i64>,
    #[odm(max_of(reviews.stars))]
    g: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "item_reviews")]
struct ItemReview {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    item: Ref<Item>,
    stars: i32,
}

// What else decides the value of the field.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "shelves", has_many(books: Book, by = shelf))]
struct Shelf {
    #[serde(rename = "_id")]
    #[odm(count_of(books))]
    id: i64,
    #[odm(version, count_of(books))]
    version: i64,
    #[odm(created_at, max_of(books.bound))]
    created_at: Option<DateTime>,
    #[odm(max_of(books.shelf))]
    other: Option<Ref<Shelf>>,
    owner: Ref<Owner>,
    #[odm(copy_of(owner.age, once), max_of(books.pages))]
    age: Option<i32>,
    #[serde(skip)]
    #[odm(count_of(books))]
    skipped: i64,
    #[serde(flatten)]
    #[odm(max_of(books.pages))]
    flat: Option<Flat>,
    #[serde(default, skip_serializing_if = "is_zero")]
    #[odm(count_of(books))]
    sometimes: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    shelf: Ref<Shelf>,
    pages: i32,
    bound: DateTime,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    age: i32,
}

// Where they stand.
#[derive(Serialize, Deserialize, Embedded)]
struct Flat {
    #[odm(count_of(books))]
    count: i64,
}

#[derive(Serialize, Deserialize, Embedded)]
enum Either {
    One {
        #[odm(count_of(books))]
        count: i64,
    },
    Other,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "none")]
struct NoRelation {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(books))]
    count: i64,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn main() {}
