//! `Option<Option<T>>` in the body of a PATCH request, for `#[serde(default, with = "odm::double_option")]`.
//!
//! | JSON | value |
//! | --- | --- |
//! | the field is absent | `None`: leave it |
//! | `null` | `Some(None)`: clear it |
//! | a value | `Some(Some(value))`: set it |
//!
//! [`Plain`](crate::json::Plain) reads the value as one of the type `T`: a date from text in the form of RFC 3339. A struct that
//! is written, too, also needs `skip_serializing_if = "Option::is_none"`, because no value stands for an absent field; writing
//! `None` is an error.
//!
//! ```
//! use odm::json::Plain;
//! use odm::prelude::*;
//!
//! #[derive(Debug, PartialEq, Deserialize, Embedded)]
//! struct Change {
//!     #[serde(default, with = "odm::double_option")]
//!     due: Option<Option<DateTime>>,
//! }
//!
//! let read = |json| serde_json::from_str::<Plain<Change>>(json).map(|change| change.0.due);
//! assert_eq!(read("{}")?, None);
//! assert_eq!(read(r#"{"due": null}"#)?, Some(None));
//! assert_eq!(read(r#"{"due": "1970-01-01T00:00:01Z"}"#)?, Some(Some(DateTime::from_millis(1_000))));
//! # Ok::<(), serde_json::Error>(())
//! ```

use bson::Bson;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::form::Form;
use crate::codec::decode;
use crate::model::{FieldType, Path, TypeMeta};
use crate::query::kind::Keyed;
use crate::query::typing::{EntryEncoder, NamesKeys};
use crate::query::{Decode, Field, With};

/// How this module stores the value of a field that is not absent.
#[doc(hidden)]
#[derive(Debug)]
pub enum Doubled {}

/// What the derives read of this module.
#[doc(hidden)]
pub type OdmStored = Doubled;

impl<T: FieldType> Form<Option<Option<T>>> for Doubled {
    type Stored = Option<T>;
    type OfNewtype = Option<T>;
    type Handle<M, E> = Field<M, Option<Option<T>>, With<E>>;
    const TYPE: TypeMeta = T::TYPE.optional();
    const IS_DECLARED: bool = true;

    #[inline]
    fn handle<M, E>(path: Path) -> Field<M, Option<Option<T>>, With<E>> {
        Field::at_path(path)
    }
}

impl<T: DeserializeOwned> Decode<Option<Option<T>>> for Doubled {
    fn decode(stored: Bson) -> Result<Option<Option<T>>, bson::error::Error> {
        decode::value(stored).map(Some)
    }
}

impl<T: Keyed, K: Into<String>> NamesKeys<T, K> for Doubled {
    fn name(key: K) -> String {
        key.into()
    }
}

impl<T: Keyed> EntryEncoder<T> for Doubled {
    type Handle<M> = <T::Value as FieldType>::Handle<M, T::Value>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        T::Value::handle(path)
    }
}

/// Writes a value that is there; for `#[serde(with = "…")]`.
///
/// # Errors
///
/// The value is `None`, which stands for an absent field.
pub fn serialize<T: Serialize, S: Serializer>(
    value: &Option<Option<T>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => value.serialize(serializer),
        None => Err(S::Error::custom(
            "`None` stands for an absent field: add `skip_serializing_if = \"Option::is_none\"` to the field",
        )),
    }
}

/// Reads a value that is there; for `#[serde(with = "…")]`.
///
/// # Errors
///
/// The value is neither null nor a `T`.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
