//! `Value` of [`serde_json`] 1 as the BSON value of it, for `#[serde(with = "odm::serde_json_1")]`.
//!
//! | JSON | stored as |
//! | --- | --- |
//! | `null`, `true`, text | the same |
//! | a number without a fraction | an integer (`long`); above `i64::MAX` it is refused |
//! | another number | a double |
//! | an array | an array |
//! | an object | a document with the same keys, in the order of the map |
//!
//! No key has a meaning: `{"$oid": "…"}` is stored as a document with the key `$oid`, not as an `ObjectId`, so input from outside
//! can't choose the type of a stored value. A key that contains a NUL is refused, and so is a value nested more than 90 levels deep.
//!
//! JSON has no form for an `ObjectId`, a date, a decimal and other types of BSON. Reading one of them, a NaN or an infinity is an
//! error that names the field; nothing is turned into text. A field that holds such values is a `bson::Bson`.
//!
//! The field has the operators of a `bson::Bson`, and its validator allows any type.
//!
//! ```
//! use odm::prelude::*;
//! use serde_json::{Value, json};
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "events")]
//! struct Event {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::serde_json_1")]
//!     payload: Value,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let events = db.collection::<Event>();
//! let payload = json!({"user": 7, "tags": ["a", "b"], "rate": 0.5});
//! events.insert_one(&Event { id: 1, payload: payload.clone() }).await?;
//!
//! let found = events.find_one(|e| e.payload.eq(&payload)).await?;
//! assert_eq!(found.ok_or("no event")?.payload, payload);
//! assert_eq!(events.count_documents(|_| odm::query::raw(doc! {"payload.user": 7})).await?, 1);
//! # Ok(())
//! # }
//! ```

use bson::{Bson, Document, RawBson};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number as JsonNumber, Value};

use super::stored_as::{ConversionError, StoredAs};
use crate::model::TypeMeta;
use crate::model::types::Bare;
use crate::query::kind;
use crate::query::scalars::field_type;

/// How this module stores a JSON value.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsBson {}

serializer!(AsBson);

field_type!(
    [] Value,
    TypeMeta::JSON.bare(&Bare {
        field: "serde reads BSON that JSON does not have into a `serde_json::Value` as objects: to store and read JSON alone, write `#[serde(with = \"odm::serde_json_1\")]` on the field",
        option: "serde reads BSON that JSON does not have into a `serde_json::Value` as objects: to store and read JSON alone, write `#[serde(with = \"odm::serde_json_1\")]` on the field",
        id: "any value as an id is a `bson::Bson`, which can be of every type that an id may have",
    })
);

/// What MongoDB stores has at most 100 levels.
const MAX_DEPTH: usize = 90;

/// A stored value, with the methods of a `Bson`.
///
/// It is read as raw BSON or as JSON, because the `Bson` that serde reads is an `ObjectId` where a document has the key `$oid`.
#[doc(hidden)]
#[derive(Debug, PartialEq)]
pub struct Json(Bson);

field_type!([] Json, TypeMeta::JSON);

macro_rules! mark {
    ($($kind:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl kind::$kind for Json {}
    )*};
}

mark!(Additive, Bits, Integer, Number, Text);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let value = Value::deserialize(deserializer)?;
            return to_bson(&value, MAX_DEPTH)
                .map(Self)
                .map_err(D::Error::custom);
        }
        let raw = RawBson::deserialize(deserializer)?;
        Bson::try_from(raw).map(Self).map_err(D::Error::custom)
    }
}

impl StoredAs<Value> for AsBson {
    type Stored = Json;

    fn to_stored(value: &Value) -> Result<Json, ConversionError> {
        to_bson(value, MAX_DEPTH).map(Json)
    }

    fn from_stored(stored: Json) -> Result<Value, ConversionError> {
        from_bson(stored.0)
    }
}

fn to_bson(value: &Value, levels: usize) -> Result<Bson, ConversionError> {
    let Some(levels) = levels.checked_sub(1) else {
        return Err(ConversionError::new(format!(
            "the value nests more than {MAX_DEPTH} levels, more than a document may have"
        )));
    };
    Ok(match value {
        Value::Null => Bson::Null,
        Value::Bool(value) => Bson::Boolean(*value),
        Value::Number(number) => number_to_bson(number)?,
        Value::String(text) => Bson::String(text.clone()),
        Value::Array(values) => {
            let values = values.iter().map(|value| to_bson(value, levels));
            Bson::Array(values.collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let mut document = Document::new();
            for (key, value) in map {
                if key.contains('\0') {
                    return Err(ConversionError::new(format!(
                        "the key {key:?} contains a NUL, which no key of a document may"
                    )));
                }
                document.insert(key.clone(), to_bson(value, levels)?);
            }
            Bson::Document(document)
        }
    })
}

fn number_to_bson(number: &JsonNumber) -> Result<Bson, ConversionError> {
    if let Some(integer) = number.as_i64() {
        return Ok(Bson::Int64(integer));
    }
    // With serde_json's feature `arbitrary_precision`, an integer may have any number of digits.
    let text = number.to_string();
    let is_integer = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    match number
        .as_f64()
        .filter(|double| double.is_finite() && !is_integer)
    {
        Some(double) => Ok(Bson::Double(double)),
        None => Err(ConversionError::new(format!(
            "the number {text} is out of the range of BSON's integers of 64 bits"
        ))),
    }
}

fn from_bson(stored: Bson) -> Result<Value, ConversionError> {
    Ok(match stored {
        Bson::Null => Value::Null,
        Bson::Boolean(value) => Value::Bool(value),
        Bson::Int32(number) => Value::from(number),
        Bson::Int64(number) => Value::from(number),
        Bson::Double(double) => match JsonNumber::from_f64(double) {
            Some(number) => Value::Number(number),
            None => return Err(no_json(&Bson::Double(double))),
        },
        Bson::String(text) => Value::String(text),
        Bson::Array(values) => {
            let values = values.into_iter().map(from_bson);
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Bson::Document(document) => {
            let mut map = Map::new();
            for (key, value) in document {
                map.insert(key, from_bson(value)?);
            }
            Value::Object(map)
        }
        other => return Err(no_json(&other)),
    })
}

fn no_json(value: &Bson) -> ConversionError {
    ConversionError::new(format!(
        "{value}, of the BSON type {:?}, has no form in JSON: declare the field as `bson::Bson`",
        value.element_type()
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn values_are_read_back(value in value()) {
            let stored = AsBson::to_stored(&value).unwrap();
            prop_assert_eq!(AsBson::from_stored(stored), Ok(value));
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e300..1e300_f64).prop_map(|number| Value::from(number + 0.5)),
            "[$a-z.]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[$a-z.]{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn what_the_other_can_not_hold_is_refused() {
        assert!(AsBson::to_stored(&json!(u64::MAX)).is_err());
        assert_eq!(
            AsBson::to_stored(&json!(i64::MAX)),
            Ok(Json(Bson::Int64(i64::MAX)))
        );
        assert!(AsBson::to_stored(&json!({"a\0b": 1})).is_err());
        let oid = AsBson::to_stored(&json!({"$oid": "507f1f77bcf86cd799439011"})).unwrap();
        assert!(oid.0.as_document().is_some());
        for value in [
            Bson::Double(f64::NAN),
            Bson::ObjectId(bson::oid::ObjectId::new()),
            Bson::DateTime(bson::DateTime::MIN),
        ] {
            let read: Result<Value, _> = AsBson::from_stored(Json(value.clone()));
            assert!(read.is_err(), "{value}");
        }
        let mut deep = json!(1);
        for _ in 0..MAX_DEPTH - 1 {
            deep = json!([deep]);
        }
        assert!(AsBson::to_stored(&deep).is_ok());
        assert!(AsBson::to_stored(&json!([deep])).is_err());
    }
}
