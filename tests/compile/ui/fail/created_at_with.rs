use odm::bson::DateTime;
use odm::prelude::*;

mod seconds {
    use odm::bson::DateTime;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &DateTime, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(time.timestamp_millis() / 1_000)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime, D::Error> {
        i64::deserialize(deserializer).map(|seconds| DateTime::from_millis(seconds * 1_000))
    }
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "seconds")]
    #[odm(created_at)]
    created: DateTime,
}

fn main() {}
