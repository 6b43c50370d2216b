use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "onestring")]
struct OneString {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "numbers")]
struct Numbers {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: Vec<i32>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "lists")]
struct Lists {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    topics: Vec<Vec<String>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "serialized")]
struct Serialized {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(keywords(max = 10))]
    #[serde(with = "words")]
    topics: Vec<String>,
}

mod words {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub fn serialize<S: Serializer>(words: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        words.serialize(serializer)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        Vec::deserialize(deserializer)
    }
}

fn main() {}
