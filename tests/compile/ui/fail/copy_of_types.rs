use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(messages: Message, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    site: Option<String>,
    #[serde(with = "text")]
    key: i32,
    #[odm(embed(few, max = 5))]
    ports: Vec<Port>,
    #[odm(version)]
    version: i64,
    owner: Ref<Owner>,
    #[odm(copy_of(owner.name))]
    owner_name: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Port {
    number: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "owners", has_many(hosts: Host, by = owner, allow_scan = "few"))]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
    // No such field.
    #[odm(copy_of(host.nam))]
    a: String,
    // Another type.
    #[odm(copy_of(host.name))]
    b: i32,
    // It can be none.
    #[odm(copy_of(host.site))]
    c: String,
    // Which of them?
    #[odm(copy_of(host.ports.number))]
    d: i32,
    // A copy of a copy.
    #[odm(copy_of(host.owner_name))]
    e: String,
    // It counts the writes.
    #[odm(copy_of(host.version))]
    version: i64,
    // Stored otherwise.
    #[odm(copy_of(host.key))]
    f: i32,
    // No projection of the model.
    #[odm(copy_of(host))]
    g: Info,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Info {
    name: String,
}

// The other model must find the copies.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "alerts")]
struct Alert {
    #[serde(rename = "_id")]
    id: i32,
    source: Ref<Host>,
    #[odm(copy_of(source.name))]
    name: String,
    #[odm(copy_of(source.name, once))]
    name_then: String,
    #[odm(embed)]
    place: Place,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Place {
    machine: Ref<Host>,
    #[odm(copy_of(machine.name))]
    name: String,
}

mod text {
    use odm::foreign::{ConversionError, StoredAs};

    pub enum Text {}

    impl StoredAs<i32> for Text {
        type Stored = String;

        fn to_stored(value: &i32) -> Result<String, ConversionError> {
            Ok(value.to_string())
        }

        fn from_stored(text: String) -> Result<i32, ConversionError> {
            text.parse().map_err(|_| ConversionError::new("not a number"))
        }
    }

    odm::serializer!(Text);
}

fn main() {}
