use odm::bson::Regex;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

type Maybe = Option<i32>;

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Pattern(Regex);

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Pair(i32, i32);

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct ByRegex {
    #[serde(rename = "_id")]
    id: Regex,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct ByNewtype {
    #[serde(rename = "_id")]
    id: Pattern,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct ByTuple {
    #[serde(rename = "_id")]
    id: (i32, i32),
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct ByTupleStruct {
    #[serde(rename = "_id")]
    id: Pair,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct ByAlias {
    #[serde(rename = "_id")]
    id: Maybe,
}

fn main() {}
