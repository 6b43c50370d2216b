//! Generated ids that are UUIDs of version 7.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use bson::oid::ObjectId;
use bson::{Binary, Bson, DateTime, Uuid};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::tree::PathId;
use crate::model::{BsonType, Rule, TypeMeta};
use crate::query::scalars::field_type;
use crate::types::compared::compared_by;

/// The id of a document of `T`: a UUID of version 7 (RFC 9562), stored as binary data of subtype 4.
///
/// It is for ids that other systems generate or keep as UUIDs, too. Like an [`Id`](crate::types::Id), it is generated before the
/// insert and begins with the time, so that new ids are at the end of an index; it has milliseconds, and 16 bytes instead of 12.
/// `T` is the model, so that an id of one model is not taken for one of another.
///
/// Ids of one process are in the order of their generation, unless its clock is set back. Other versions of UUIDs are read and
/// compared as well. Binary data of another subtype, such as that of old drivers (3), is an error when it is read.
///
/// ```
/// use odm::prelude::*;
/// use odm::types::UuidId;
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "orders")]
/// struct Order {
///     #[serde(rename = "_id")]
///     id: UuidId<Order>,
///     total: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// let orders = db.collection::<Order>();
/// let order = Order { id: UuidId::new(), total: 40 };
/// orders.insert_one(&order).await?;
/// assert_eq!(orders.get(&order.id).await?.map(|order| order.total), Some(40));
///
/// // The id has the time of the order.
/// let hour_ago = DateTime::from_millis(DateTime::now().timestamp_millis() - 3_600_000);
/// let new = orders.find(|o| o.id.gte(UuidId::first_at(hour_ago))).all().await?;
/// assert_eq!(new.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct UuidId<T> {
    uuid: Uuid,
    of: PhantomData<fn() -> T>,
}

/// The variant of RFC 9562, in the highest bits of the ninth byte.
const VARIANT: u8 = 0b1000_0000;

/// The version, in the highest bits of the seventh byte.
const VERSION: u8 = 0x70;

impl<T> UuidId<T> {
    /// Generates an id: the time in milliseconds, a counter of the process, and 50 random bits.
    ///
    /// ```
    /// use odm::types::UuidId;
    /// let (one, next) = (UuidId::<()>::new(), UuidId::<()>::new());
    /// assert!(one < next);
    /// assert_eq!(one.to_string().as_bytes()[14], b'7');
    /// ```
    #[expect(
        clippy::new_without_default,
        reason = "a default that differs every time would surprise"
    )]
    pub fn new() -> Self {
        let [.., high, middle, low] = ObjectId::new().bytes();
        let random = Uuid::new().bytes();
        let mut bytes = prefix(DateTime::now());
        for (byte, random) in bytes.iter_mut().zip(random).skip(6) {
            *byte = random;
        }
        // The counter of `ObjectId` starts at a random number. Its 24 bits stand around the variant.
        let counter = [
            VERSION | high >> 4,
            high << 4 | middle >> 4,
            VARIANT | (middle & 0x0f) << 2 | low >> 6,
            low << 2,
        ];
        for ((byte, counter), kept) in bytes.iter_mut().skip(6).zip(counter).zip([0, 0, 0, 3]) {
            *byte = *byte & kept | counter;
        }
        Self::from_uuid(Uuid::from_bytes(bytes))
    }

    /// The smallest id of this millisecond, to compare ids with a time. Times before 1970 count as 1970.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::types::UuidId;
    /// let day = DateTime::parse_rfc3339_str("2026-05-01T00:00:00Z")?;
    /// assert_eq!(UuidId::<()>::first_at(day).timestamp(), Some(day));
    /// assert_eq!(UuidId::<()>::first_at(day).to_string(), "019de0d5-c800-7000-8000-000000000000");
    /// # Ok::<(), odm::bson::error::Error>(())
    /// ```
    pub fn first_at(time: DateTime) -> Self {
        let mut bytes = prefix(time);
        for (byte, bits) in bytes.iter_mut().skip(6).zip([VERSION, 0, VARIANT]) {
            *byte = bits;
        }
        Self::from_uuid(Uuid::from_bytes(bytes))
    }

    /// The id that is this UUID, of any version.
    ///
    /// ```
    /// use odm::types::UuidId;
    /// let uuid = odm::bson::Uuid::from_bytes([7; 16]);
    /// assert_eq!(UuidId::<()>::from_uuid(uuid).uuid(), uuid);
    /// ```
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self {
            uuid,
            of: PhantomData,
        }
    }

    /// Reads the 36 characters of a UUID, or its 32 digits.
    ///
    /// ```
    /// use odm::types::UuidId;
    /// let id = UuidId::<()>::parse("019de0d5-c800-7000-8000-000000000000")?;
    /// assert_eq!(id.to_string(), "019de0d5-c800-7000-8000-000000000000");
    /// assert!(UuidId::<()>::parse("7").is_err());
    /// # Ok::<(), odm::types::ParseUuidIdError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is no UUID.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, ParseUuidIdError> {
        match Uuid::parse_str(text.as_ref()) {
            Ok(uuid) => Ok(Self::from_uuid(uuid)),
            Err(_) => Err(ParseUuidIdError(text.as_ref().to_owned())),
        }
    }

    /// The UUID.
    ///
    /// ```
    /// use odm::types::UuidId;
    /// assert_eq!(UuidId::<()>::new().uuid().bytes().len(), 16);
    /// ```
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }

    /// When the id was generated; none if it is of another version than 7.
    ///
    /// ```
    /// use odm::types::UuidId;
    /// assert!(UuidId::<()>::new().timestamp().is_some());
    /// assert!(UuidId::<()>::from_uuid(odm::bson::Uuid::new()).timestamp().is_none());
    /// ```
    pub fn timestamp(self) -> Option<DateTime> {
        let bytes = self.uuid.bytes();
        let [_, _, _, _, _, _, version, ..] = bytes;
        let mut millis = [0; 8];
        for (byte, stored) in millis.iter_mut().skip(2).zip(bytes) {
            *byte = stored;
        }
        let time = DateTime::from_millis(i64::from_be_bytes(millis));
        (version & 0xf0 == VERSION).then_some(time)
    }
}

/// The time, and zeros.
fn prefix(time: DateTime) -> [u8; 16] {
    let millis = time.timestamp_millis().max(0).to_be_bytes();
    let mut bytes = [0; 16];
    // 48 bits are enough until the year 10889.
    for (byte, part) in bytes.iter_mut().zip(millis.into_iter().skip(2)) {
        *byte = part;
    }
    bytes
}

/// A text that is no UUID: [`UuidId::parse`].
///
/// ```
/// use odm::types::UuidId;
/// let error = UuidId::<()>::parse("7").unwrap_err();
/// assert_eq!(error.to_string(), r#""7" is not a UUID: expected 32 hexadecimal digits, with or without hyphens"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseUuidIdError(String);

impl fmt::Display for ParseUuidIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a UUID: expected 32 hexadecimal digits, with or without hyphens",
            self.0
        )
    }
}

impl std::error::Error for ParseUuidIdError {}

impl<T> FromStr for UuidId<T> {
    type Err = ParseUuidIdError;

    fn from_str(text: &str) -> Result<Self, ParseUuidIdError> {
        Self::parse(text)
    }
}

impl<T> From<Uuid> for UuidId<T> {
    fn from(uuid: Uuid) -> Self {
        Self::from_uuid(uuid)
    }
}

impl<T> From<UuidId<T>> for Uuid {
    fn from(id: UuidId<T>) -> Self {
        id.uuid
    }
}

impl<T> fmt::Display for UuidId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid, f)
    }
}

impl<T> fmt::Debug for UuidId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UuidId({})", self.uuid)
    }
}

compared_by!([T] UuidId<T>, |id| id.uuid.bytes(), Copy, Ord);

impl<T> Serialize for UuidId<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.uuid.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for UuidId<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Uuid::deserialize(deserializer).map(Self::from_uuid)
    }
}

#[diagnostic::do_not_recommend]
impl<T> PathId for UuidId<T> {
    fn read(text: &str) -> Option<Bson> {
        Uuid::read(text)
    }
}

field_type!([T] UuidId<T>, TypeMeta::scalar(&[BsonType::Binary]).with_rules(&[Rule::Bytes { max: 21 }]), |id| {
    Some(Bson::Binary(Binary::from(id.uuid)))
});
