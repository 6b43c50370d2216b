use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Reader {
    name: String,
}

// No list, a list of other elements, of another name, without a bound; no relation that deletes.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", has_many(more: MoreOfA, by = book, on_delete = cascade))]
struct A {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_of_a",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreOfA {
    #[serde(rename = "_id")]
    id: Id<MoreOfA>,
    book: Ref<A>,
    number: i32,
    readers: Vec<Reader>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "b", has_many(more: MoreOfB, by = book, on_delete = cascade))]
struct B {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 10))]
    readers: Vec<i32>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_of_b",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreOfB {
    #[serde(rename = "_id")]
    id: Id<MoreOfB>,
    book: Ref<B>,
    number: i32,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "c", has_many(more: MoreOfC, by = book, on_delete = cascade))]
struct C {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "lent_to")]
    #[odm(items(max = 10))]
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_of_c",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreOfC {
    #[serde(rename = "_id")]
    id: Id<MoreOfC>,
    book: Ref<C>,
    number: i32,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "d", has_many(more: MoreOfD, by = book, on_delete = cascade))]
struct D {
    #[serde(rename = "_id")]
    id: i32,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_of_d",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreOfD {
    #[serde(rename = "_id")]
    id: Id<MoreOfD>,
    book: Ref<D>,
    number: i32,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "e", has_many(more: MoreOfE, by = book))]
struct E {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 10))]
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_of_e",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreOfE {
    #[serde(rename = "_id")]
    id: Id<MoreOfE>,
    book: Ref<E>,
    number: i32,
    readers: Vec<String>,
}

fn add_score(_: &mut odm::bson::Document) {}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "f",
    schema(version = 2, steps(add_score)),
    has_many(more: MoreOfF, by = book, on_delete = cascade)
)]
struct F {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 10))]
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "more_of_f",
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct MoreOfF {
    #[serde(rename = "_id")]
    id: Id<MoreOfF>,
    book: Ref<F>,
    number: i32,
    readers: Vec<String>,
}

fn main() {}
