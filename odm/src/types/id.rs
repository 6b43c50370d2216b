//! Generated ids.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bson::oid::ObjectId;
use bson::{Bson, DateTime};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::tree::PathId;
use crate::model::{BsonType, TypeMeta};
use crate::query::scalars::field_type;
use crate::types::compared::compared_by;

/// A generated id of a document of `T`: an `ObjectId` that can't be mistaken for the id of another model.
///
/// ```
/// use odm::types::Id;
///
/// struct Host;
/// let id: Id<Host> = Id::parse("507f1f77bcf86cd799439011")?;
/// assert_eq!(id.to_string(), "507f1f77bcf86cd799439011");
/// assert_eq!(id.timestamp().try_to_rfc3339_string().unwrap(), "2012-10-17T21:13:27Z");
/// assert_ne!(Id::<Host>::new(), Id::new());
/// # Ok::<(), odm::types::ParseIdError>(())
/// ```
pub struct Id<T> {
    oid: ObjectId,
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// Generates an id: the time in seconds, five random bytes for the process, and a counter.
    #[expect(
        clippy::new_without_default,
        reason = "a default that differs every time would surprise"
    )]
    pub fn new() -> Self {
        Self::from_object_id(ObjectId::new())
    }

    /// Makes an id from an `ObjectId`.
    ///
    /// ```
    /// # struct Book;
    /// # use odm::prelude::*;
    /// let oid = odm::bson::oid::ObjectId::new();
    /// assert_eq!(Id::<Book>::from_object_id(oid).object_id(), oid);
    /// ```
    pub const fn from_object_id(oid: ObjectId) -> Self {
        Self {
            oid,
            of: PhantomData,
        }
    }

    /// Reads 24 hexadecimal digits.
    ///
    /// ```
    /// # struct Book;
    /// # use odm::prelude::*;
    /// let id = Id::<Book>::parse("65f1c0ffee65f1c0ffee65f1")?;
    /// assert_eq!(id.to_string(), "65f1c0ffee65f1c0ffee65f1");
    /// assert!(Id::<Book>::parse("65f1").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(hex: impl AsRef<str>) -> Result<Self, ParseIdError> {
        match ObjectId::parse_str(hex.as_ref()) {
            Ok(oid) => Ok(Self::from_object_id(oid)),
            Err(_) => Err(ParseIdError(hex.as_ref().to_owned())),
        }
    }

    /// Returns the stored `ObjectId`.
    ///
    /// ```
    /// # struct Book;
    /// # use odm::prelude::*;
    /// let id = Id::<Book>::new();
    /// assert_eq!(id.object_id().to_hex(), id.to_hex());
    /// ```
    pub const fn object_id(self) -> ObjectId {
        self.oid
    }

    /// The 24 hexadecimal digits.
    ///
    /// ```
    /// # struct Book;
    /// # use odm::prelude::*;
    /// assert_eq!(Id::<Book>::new().to_hex().len(), 24);
    /// ```
    pub fn to_hex(self) -> String {
        self.oid.to_hex()
    }

    /// When the id was generated, to the second.
    ///
    /// ```
    /// # struct Book;
    /// # use odm::prelude::*;
    /// let id = Id::<Book>::parse("65f1c0ff0000000000000000")?;
    /// assert_eq!(id.timestamp().try_to_rfc3339_string()?, "2024-03-13T15:06:39Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timestamp(self) -> DateTime {
        self.oid.timestamp()
    }
}

/// A string that is not 24 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseIdError(String);

impl fmt::Display for ParseIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not an id: expected 24 hexadecimal digits",
            self.0
        )
    }
}

impl std::error::Error for ParseIdError {}

impl<T> FromStr for Id<T> {
    type Err = ParseIdError;

    fn from_str(hex: &str) -> Result<Self, ParseIdError> {
        Self::parse(hex)
    }
}

impl<T> From<ObjectId> for Id<T> {
    fn from(oid: ObjectId) -> Self {
        Self::from_object_id(oid)
    }
}

impl<T> From<Id<T>> for ObjectId {
    fn from(id: Id<T>) -> Self {
        id.oid
    }
}

impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.oid, f)
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.oid)
    }
}

compared_by!([T] Id<T>, |id| id.oid, Copy, Ord);

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.oid.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ObjectId::deserialize(deserializer).map(Self::from_object_id)
    }
}

#[diagnostic::do_not_recommend]
impl<T> PathId for Id<T> {
    fn read(text: &str) -> Option<Bson> {
        ObjectId::read(text)
    }
}

field_type!([T] Id<T>, TypeMeta::scalar(&[BsonType::ObjectId]), |id| {
    Some(Bson::ObjectId(id.object_id()))
});
