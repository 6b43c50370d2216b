use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "hosts",
    has_squillions(messages: Message, by = host, guarantee = strong)
)]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

// What `copy_of` names.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
struct Message {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
    #[odm(references(many, max = 10))]
    others: Vec<Ref<Host>>,
    previous: Option<Ref<Host>>,
    #[odm(copy_of(hots.name))]
    a: String,
    #[odm(copy_of(others.name))]
    b: String,
    #[odm(copy_of(id.name))]
    c: String,
    #[odm(copy_of(previous.name))]
    d: String,
    #[odm(copy_of(host.name, one))]
    e: String,
    #[odm(copy_of = host)]
    f: String,
}

// What else decides the value of the field.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    #[odm(copy_of(host.name))]
    id: String,
    host: Ref<Host>,
    #[odm(copy_of(host.name))]
    other: Ref<Host>,
    #[odm(version, copy_of(host.name))]
    version: i64,
    #[odm(copy_of(host.name))]
    title: String,
    #[odm(keywords(from(title), language = "english", max = 10))]
    words: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[odm(copy_of(host.name))]
    sometimes: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Pair<T> {
    host: Ref<Host>,
    #[odm(copy_of(host.name))]
    name: String,
    value: T,
}

fn main() {}
