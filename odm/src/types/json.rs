//! Models as plain JSON, for web services: hexadecimal ids and RFC 3339 dates in place of `{"$oid": "…"}` and
//! `{"$date": …}`.
//!
//! serde writes the types of BSON to JSON as MongoDB's Extended JSON. [`Plain`] around a value writes them as a client of a
//! web service expects them, and reads them so:
//!
//! ```
//! use odm::json::Plain;
//! use odm::prelude::*;
//! use odm::bson::Decimal128;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
//! #[odm(collection = "orders")]
//! struct Order {
//!     #[serde(rename = "_id")]
//!     id: Id<Order>,
//!     placed: DateTime,
//!     total: Decimal128,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let json = r#"{"_id":"507f1f77bcf86cd799439011","placed":"2026-04-02T10:30:00Z","total":"9.99"}"#;
//! let Plain(order) = serde_json::from_str::<Plain<Order>>(json)?;
//! assert_eq!(order.placed, DateTime::parse_rfc3339_str("2026-04-02T10:30:00Z")?);
//! assert_eq!(serde_json::to_string(&Plain(&order))?, json);
//!
//! let error = serde_json::from_str::<Plain<Order>>(r#"{"_id": "507f", "total": "9.99"}"#).unwrap_err();
//! assert!(error.to_string().contains("_id: expected an id of 24 hexadecimal digits"));
//! # Ok(())
//! # }
//! ```
//!
//! # What is written
//!
//! | BSON | JSON | read back |
//! | --- | --- | --- |
//! | `ObjectId` | `"507f1f77bcf86cd799439011"` | the same |
//! | date | `"2026-04-02T10:30:00.123Z"`; milliseconds since 1970 as a number where the year is not in 0–9999 | the same; offsets such as `+02:00` are converted to UTC, and a fraction of a millisecond is refused |
//! | Decimal128 | `"9.99"` | the same; a JSON number is refused, because it may have lost digits already |
//! | binary data | base64 text | the same |
//! | binary data of subtype 4 | `"2f1c9a3e-…"`, a hyphenated UUID | the same |
//! | binary data of other subtypes | `{"base64": "…", "subType": "05"}` | the same |
//! | timestamp | `{"t": 1, "i": 2}` | the same |
//! | regular expression | `{"pattern": "^a", "options": "i"}` | the same |
//! | int, long | a number | the same; JavaScript rounds numbers beyond ±2⁵³ |
//! | double | a number; `serde_json` writes NaN and infinities as `null` | the same; `null` is not a double |
//! | undefined | `null` | `null` |
//! | symbol, JavaScript code | text | a string |
//! | code with scope, `DBPointer`, min key, max key | Extended JSON | the same |
//!
//! A `Bson`, a `Document` or another field without a declared type keeps only what JSON has: a date in it is read back as a
//! string, and a date in the form of Extended JSON as a date. An object with a key of Extended JSON and other keys, such as
//! `{"$date": 0, "b": 1}`, is refused, because its other fields would be lost. Only in a `serde_json::Value` no key has a
//! meaning: objects are read and written as they are. All other serde attributes of a model (`rename`,
//! `skip_serializing_if`, `flatten`, `with`) apply as without [`Plain`], and [`is_human_readable`](serde::Serializer::is_human_readable) is what the serializer says, so that
//! [`odm::money::json`](crate::money::json) writes decimal text.
//!
//! # What can be read
//! In JSON, a date is text. [`Plain`] knows from the declared fields that it is a date, so `T` is a derived
//! [`Document`](derive@crate::Document) or [`Embedded`](derive@crate::Embedded), or a list, a map or an `Option` of those. For
//! the body of a request that is not stored as it is, derive `Deserialize` and `Embedded`. Extended JSON is read as well, and
//! values of an untagged enum by the first variant whose fields are all there and can be read. A value is buffered before it is
//! read; errors name the field by its path.
//!
//! # Single fields
//! For a few fields only, bson has serializers: `#[serde(with = "odm::bson::serde_helpers::object_id::AsHexString")]` and
//! `…::datetime::AsRfc3339String`. They write text into the database, too, so MongoDB compares, sorts and expires such a field
//! as text, and a [`Ref`](crate::types::Ref) to it does not match. odm does not know what they write: it treats such a field as
//! one of any type. [`Plain`] leaves what is stored as it is.

pub(crate) mod extended;
mod node;
mod read;
pub(crate) mod text;
mod write;

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::extended::Nested;
use self::node::Node;
use self::read::conform;
use self::write::PlainSerializer;
use crate::model::FieldType;

/// A value as [plain JSON](self): `Json<Plain<Order>>` in a handler of axum, `Vec<Plain<Order>>`, `Plain(&order)`.
///
/// Formats that are not [human-readable](serde::Serializer::is_human_readable), such as BSON, get the value as it is.
///
/// ```
/// use odm::json::Plain;
/// use odm::prelude::*;
///
/// #[derive(Deserialize, Embedded)]
/// struct NewOrder {
///     product: ObjectId,
///     due: Option<DateTime>,
/// }
///
/// let json = r#"{"product": "507f1f77bcf86cd799439011", "due": "2026-04-02T12:30:00+02:00"}"#;
/// let Plain(order): Plain<NewOrder> = serde_json::from_str(json)?;
/// assert_eq!(order.due, Some(DateTime::from_millis(1_775_125_800_000)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plain<T>(pub T);

impl<T> Plain<T> {
    /// The value.
    ///
    /// ```
    /// # use odm::json::Plain;
    /// # use odm::prelude::*;
    /// # #[derive(Deserialize, Embedded)]
    /// # struct NewOrder { due: DateTime }
    /// let plain: Plain<NewOrder> = serde_json::from_str(r#"{"due": "1970-01-01T00:00:01Z"}"#)?;
    /// let order: NewOrder = plain.into_inner();
    /// assert_eq!(order.due, DateTime::from_millis(1_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> From<T> for Plain<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: Serialize> Serialize for Plain<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize(PlainSerializer(serializer))
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de, T: FieldType + DeserializeOwned> Deserialize<'de> for Plain<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return T::deserialize(deserializer).map(Self);
        }
        let json = Nested::AS_WRITTEN.deserialize(deserializer)?;
        let stored = conform(json, &T::TYPE).map_err(D::Error::custom)?;
        match serde_path_to_error::deserialize(Node(stored)) {
            Ok(value) => Ok(Self(value)),
            Err(error) if error.path().iter().next().is_none() => {
                Err(D::Error::custom(error.inner()))
            }
            Err(error) => Err(D::Error::custom(format!(
                "{}: {}",
                error.path(),
                error.inner()
            ))),
        }
    }
}

#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod tests;
