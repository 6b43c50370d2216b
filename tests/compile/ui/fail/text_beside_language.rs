use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books", text(title))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    language: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "films", text(title))]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[serde(flatten)]
    origin: Origin,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Origin {
    language: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "shows", text(origin.language))]
struct Show {
    #[serde(rename = "_id")]
    id: i32,
    origin: Origin,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "songs", text(title, language_override = "sung_in"))]
struct Song {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    sung_in: Option<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "plays", text(title, language_override = "acts"))]
struct Play {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    acts: i32,
}

fn main() {}
