use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Place {
    city: Option<String>,
    tags: Vec<String>,
}

type Name = Option<String>;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", shard_key(place.city))]
struct Nullable {
    #[serde(rename = "_id")]
    id: i32,
    place: Place,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "b", shard_key(place.tags))]
struct List {
    #[serde(rename = "_id")]
    id: i32,
    place: Place,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "c", shard_key(name))]
struct Alias {
    #[serde(rename = "_id")]
    id: i32,
    name: Name,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "d", shard_key(place.town))]
struct Misspelled {
    #[serde(rename = "_id")]
    id: i32,
    place: Place,
}

fn main() {}
