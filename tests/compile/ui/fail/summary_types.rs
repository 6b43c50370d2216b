use odm::money::{Eur, Money, Usd};
use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Count = Option<i64>;
type Best = i32;

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "products",
    has_many(reviews: Review, by = product),
    has_many(bundles: Bundle, by = parts),
    has_many(orders: Order, by = lines.product)
)]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    // No such field.
    #[odm(sum_of(reviews.star))]
    a: i64,
    // Another type.
    #[odm(max_of(reviews.text))]
    b: Option<i32>,
    // No number.
    #[odm(sum_of(reviews.text))]
    c: i64,
    #[odm(mean_of(reviews.rating.note))]
    d: Option<f64>,
    // A list, and a field in one.
    #[odm(sum_of(reviews.marks))]
    e: i64,
    #[odm(max_of(reviews.answers.likes))]
    f: Option<i32>,
    // Derived itself.
    #[odm(max_of(reviews.version))]
    g: Option<i64>,
    #[odm(max_of(reviews.product_name))]
    h: Option<String>,
    #[odm(sum_of(reviews.answer_count))]
    i: i64,
    // Stored otherwise.
    #[odm(max_of(reviews.key))]
    j: Option<i32>,
    // Behind aliases.
    #[odm(count_of(reviews))]
    k: Count,
    #[odm(max_of(reviews.stars))]
    l: Best,
    #[serde(with = "text")]
    #[odm(count_of(reviews))]
    m: i32,
    // Another currency.
    #[odm(sum_of(reviews.paid))]
    q: Money<Usd>,
    // A document would count several times.
    #[odm(count_of(bundles))]
    n: i64,
    #[odm(sum_of(bundles.price))]
    o: i64,
    #[odm(count_of(orders))]
    p: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "reviews", has_many(answers_to: Answer, by = review))]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    #[odm(copy_of(product.name))]
    product_name: String,
    // A summary changes without an update that names it.
    #[odm(copy_of(product.p))]
    product_orders: i64,
    text: String,
    stars: i32,
    paid: Money<Eur>,
    #[odm(embed)]
    rating: Rating,
    #[odm(items(max = 5))]
    marks: Vec<i32>,
    #[odm(embed(few, max = 5))]
    answers: Vec<Liked>,
    #[odm(count_of(answers_to))]
    answer_count: i64,
    #[serde(with = "text")]
    key: i32,
    #[odm(version)]
    version: i64,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Rating {
    note: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Liked {
    likes: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "answers")]
struct Answer {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    review: Ref<Review>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "bundles")]
struct Bundle {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 5), index)]
    parts: Vec<Ref<Product>>,
    price: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "orders", index(lines.product))]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 5))]
    lines: Vec<Line>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Line {
    product: Ref<Product>,
}

mod text {
    use odm::foreign::{ConversionError, StoredAs};

    pub enum Text {}

    impl StoredAs<i32> for Text {
        type Stored = String;

        fn to_stored(value: &i32) -> Result<String, ConversionError> {
            Ok(value.to_string())
        }

        fn from_stored(text: String) -> Result<i32, ConversionError> {
            text.parse().map_err(|_| ConversionError::new("not a number"))
        }
    }

    odm::serializer!(Text);
}

fn main() {}
