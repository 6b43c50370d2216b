use odm::bson::{Bson, Decimal128};
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products", budget = "64KiB")]
struct Product {
    #[serde(rename = "_id")]
    id: Id<Self>,
    #[odm(length(max = 100))]
    name: String,
    price: Decimal128,
    maker: Ref<Maker>,
    #[odm(length(max = 20))]
    country: Option<Ref<Country>>,
    #[odm(references(many, max = 100))]
    parts: Vec<Ref<Product>>,
    #[odm(embed(few, max = 10))]
    reviews: Vec<Review>,
    thread: Option<Comment>,
    #[serde(flatten)]
    size: Dimensions,
    shape: Shape,
    colour: Option<Colour>,
    corners: [(f64, f64); 4],
    middle: Point,
    code: uuid::Code,
    #[odm(bytes(max = "4KiB"))]
    extra: Bson,
}

mod uuid {
    use super::*;

    #[derive(Clone, Serialize, Deserialize, Embedded)]
    pub struct Code(odm::bson::Uuid);
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "makers", budget(max = "100B", allow = "names are long"))]
struct Maker {
    #[serde(rename = "_id")]
    id: uuid::Code,
    #[odm(length(max = 1_000))]
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "countries")]
struct Country {
    #[serde(rename = "_id")]
    id: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Review {
    #[odm(length(max = 500))]
    text: String,
    stars: i32,
    #[odm(length(max = 20), items(max = 5))]
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct Comment {
    #[odm(length(max = 50))]
    text: String,
    #[odm(embed(few, max = 4))]
    replies: Vec<Comment>,
    above: Option<Box<Comment>>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Dimensions {
    width: f64,
    height: f64,
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Shape {
    Circle {
        radius: f64,
    },
    Box(Dimensions),
    Other {
        #[odm(one_of("a", "long"))]
        name: String,
    },
}

#[derive(Serialize, Deserialize, Embedded)]
enum Colour {
    Red,
    Green,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Point(f64, f64);
