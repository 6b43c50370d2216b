use odm::prelude::*;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::uuid_1")]
    #[odm(unique)]
    code: Uuid,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "text")]
    #[odm(index, refers_to(Product, by = code))]
    product: Uuid,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(serialize_with = "lowercase")]
    #[odm(keywords(max = 10))]
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "text")]
    #[odm(recent(Message, max = 9, sort = time))]
    messages: Vec<Line>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = messages)]
    host: Ref<Host>,
    time: i32,
}

#[derive(Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Message)]
struct Line {
    time: i32,
}

mod text {
    use odm::foreign::{ConversionError, StoredAs};

    pub enum Text {}

    impl StoredAs<uuid::Uuid> for Text {
        type Stored = String;

        fn to_stored(value: &uuid::Uuid) -> Result<String, ConversionError> {
            Ok(value.to_string())
        }

        fn from_stored(text: String) -> Result<uuid::Uuid, ConversionError> {
            text.parse().map_err(|_| ConversionError::new("not a UUID"))
        }
    }

    impl StoredAs<super::Line> for Text {
        type Stored = String;

        fn to_stored(value: &super::Line) -> Result<String, ConversionError> {
            Ok(value.time.to_string())
        }

        fn from_stored(text: String) -> Result<super::Line, ConversionError> {
            let time = text.parse().map_err(|_| ConversionError::new("not a time"))?;
            Ok(super::Line { time })
        }
    }

    odm::serializer!(Text);
}

fn lowercase<S: Serializer>(words: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(words.iter().map(|word| word.to_lowercase()))
}

fn main() {}
