//! Numbers of bytes, as any program stores them.

use std::fmt;

use bson::doc;
use bson::raw::RawBson;
use odm_language::value::number::Number;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{BsonType, Rule, TypeMeta};
use crate::query::scalars::field_type;

/// A number of bytes in a document that describes a file: its `length` and its `chunkSize`.
///
/// odm stores a `long`. Other programs store the number types of their language, so that whole numbers of every type are
/// read. A negative number and one with a fraction are errors, and the validator of a model refuses them.
///
/// ```
/// use odm::gridfs::{ByteCount, File};
/// use odm::prelude::*;
///
/// let file = odm::query::fields::<File>();
/// let large = file.length.gt(ByteCount::new(1_000_000));
/// assert_eq!(large.to_document()?, doc! {"length": {"$gt": 1_000_000_i64}});
///
/// let length: ByteCount = odm::bson::deserialize_from_bson(odm::bson::Bson::Double(7.0))?;
/// assert_eq!(length.get(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// This many bytes.
    ///
    /// ```
    /// # use odm::gridfs::ByteCount;
    /// assert_eq!(ByteCount::new(7).to_string(), "7");
    /// ```
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number.
    ///
    /// ```
    /// # use odm::gridfs::ByteCount;
    /// assert_eq!(ByteCount::new(7).get(), 7);
    /// ```
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for ByteCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => Err(serde::ser::Error::custom(
                "MongoDB has no integer this large: a file has at most 2^63 - 1 bytes",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for ByteCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = RawBson::deserialize(deserializer)?;
        let number = Number::from_raw(stored.as_raw_bson_ref()).and_then(Number::to_i64_exact);
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!("{stored:?} is not a whole number of bytes"))
        })
    }
}

field_type!(
    [] ByteCount,
    TypeMeta::scalar(&[BsonType::Double, BsonType::Int, BsonType::Long, BsonType::Decimal])
        .with_rules(&[Rule::Schema(|| doc! {"multipleOf": 1}), Rule::at_least(0)])
);
