use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "nolanguage")]
struct NoLanguage {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(title), max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "nosources")]
struct NoSources {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(), language = "english", max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "unknown")]
struct Unknown {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(titel), language = "english", max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "itself")]
struct Itself {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(words), language = "english", max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "number")]
struct Number {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(id), language = "english", max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "language")]
struct Language {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(title), language = "englisch", max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "sometimes")]
struct Sometimes {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(title), language = "english", max = 10))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
}

fn main() {}
