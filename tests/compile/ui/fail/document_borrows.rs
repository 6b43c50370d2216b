use odm::prelude::*;

#[derive(Serialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: &'static str,
}

#[derive(Serialize, Document)]
#[odm(collection = "lists")]
struct List {
    #[serde(rename = "_id")]
    id: i32,
    numbers: Option<&'static [i32]>,
}

// What is written alone may borrow.
#[derive(Serialize, Embedded)]
struct Note<'a> {
    text: &'a str,
}

fn main() {}
