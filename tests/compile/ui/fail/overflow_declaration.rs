use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(a: Bare, by = book, on_delete = cascade),
    has_many(b: Fields, by = book, on_delete = cascade)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 50))]
    readers: Vec<String>,
}

// How the word is written.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow)]
struct Bare {
    #[serde(rename = "_id")]
    id: Id<Bare>,
    #[odm(index)]
    book: Ref<Book>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow(list = readers, by = book, max = 10))]
struct WithoutNumber {
    #[serde(rename = "_id")]
    id: Id<WithoutNumber>,
    book: Ref<Book>,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow(list = readers, of = book, number = number, max = 10))]
struct OtherWord {
    #[serde(rename = "_id")]
    id: Id<OtherWord>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow(list = readers, by = bok, number = readers, max = 0))]
struct OtherNames {
    #[serde(rename = "_id")]
    id: Id<OtherNames>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow(list = readers, by = book, number = number, max = 6_000))]
struct Generic<T> {
    #[serde(rename = "_id")]
    id: Id<Book>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<T>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(overflow(list = readers, by = book, number = number, max = 10))]
struct Inside {
    readers: Vec<String>,
}

// What the fields are, and what else is declared.
#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "a",
    overflow(list = readers, by = book, number = number, max = 6_000),
    unique(book, number),
    capped(size = 1_000),
    collation(locale = "en"),
    schema(version = 1)
)]
struct Fields {
    #[serde(rename = "_id")]
    id: i32,
    book: Option<Ref<Book>>,
    #[odm(version)]
    number: i64,
    #[odm(items(max = 10))]
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    readers: Vec<String>,
    note: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow(list = readers, by = own, number = number, max = 10))]
struct OfItself {
    #[serde(rename = "_id")]
    id: Id<OfItself>,
    own: Ref<OfItself>,
    number: f64,
    readers: Option<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", overflow(list = readers, by = book, number = number, max = 10))]
struct Bounded {
    #[serde(rename = "_id")]
    id: Id<Bounded>,
    book: String,
    number: Option<i32>,
    #[odm(embed(few, max = 20))]
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[serde(tag = "kind")]
#[odm(collection = "media", overflow(list = readers, by = book, number = number, max = 10))]
enum Medium {
    Film(Film),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium, overflow(list = readers, by = book, number = number, max = 10))]
struct Film {
    #[serde(rename = "_id")]
    id: Id<Film>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "a",
    time_series(time = at),
    overflow(list = readers, by = book, number = number, max = 10)
)]
struct Series {
    #[serde(rename = "_id")]
    id: Id<Series>,
    at: DateTime,
    book: Ref<Book>,
    number: i32,
    readers: Vec<String>,
}

fn main() {}
