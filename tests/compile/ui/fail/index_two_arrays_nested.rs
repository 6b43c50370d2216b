use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Marks {
    tags: Vec<String>,
    grades: Vec<i32>,
    by: String
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", index(marks.tags, marks.grades), index(copies.by, marks.tags), index(title, copies.by, copies.tags))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    marks: Marks,
    #[odm(embed(few, max = 3))]
    copies: Vec<Marks>
}

fn main() {}
