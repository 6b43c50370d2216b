//! `Uuid` of [uuid] 1, for `#[serde(with = "odm::uuid_1")]`: binary data of subtype 4, as drivers of other languages store it.
//!
//! Binary UUIDs sort by their bytes, so those of version 7 sort by their time. The module [`text`] stores the 36 characters
//! instead. Binary data of another subtype, and text of another form, is an error when it is read.
//!
//! An `_id` and what references it share a newtype:
//!
//! ```
//! use odm::prelude::*;
//! use uuid::Uuid;
//!
//! #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
//! struct BookId(#[serde(with = "odm::uuid_1")] Uuid);
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "books")]
//! struct Book {
//!     #[serde(rename = "_id")]
//!     id: BookId,
//!     #[serde(default, with = "odm::uuid_1")]
//!     import: Option<Uuid>,
//!     sequel: Option<Ref<Book>>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let books = db.collection::<Book>();
//! let id = BookId(Uuid::from_u128(7));
//! let import = Some(Uuid::from_u128(8));
//! books.insert_one(&Book { id: id.clone(), import, sequel: Some(Ref::from(id.clone())) }).await?;
//!
//! let found = books.find_one(|b| b.import.eq(Uuid::from_u128(8)) & b.sequel.eq(Ref::from(id.clone()))).await?;
//! assert_eq!(found.ok_or("no book")?.id, id);
//! # Ok(())
//! # }
//! ```

use uuid::Uuid;

use super::bare::bare;
use super::stored_as::{ConversionError, StoredAs};
use crate::model::Rule;

// `$` would allow a line break at the end.
const PATTERN: &str = r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z";

/// How this module stores a UUID.
#[doc(hidden)]
#[derive(Debug)]
pub enum AsBinary {}

serializer!(AsBinary);

/// Text in small letters with hyphens: `67e55044-10b1-426f-9247-bb680e5fe0c8`. It sorts as the binary form does.
pub mod text {
    /// How this module stores a UUID.
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum AsText {}

    serializer!(AsText);
}

bare! {
    [] Uuid: Binary, "uuid::Uuid", "binary data without the subtype of UUIDs", "a UUID", "odm::uuid_1";
}

impl StoredAs<Uuid> for AsBinary {
    type Stored = bson::Uuid;

    fn to_stored(value: &Uuid) -> Result<bson::Uuid, ConversionError> {
        Ok(bson::Uuid::from_bytes(value.into_bytes()))
    }

    fn from_stored(stored: bson::Uuid) -> Result<Uuid, ConversionError> {
        Ok(Uuid::from_bytes(stored.bytes()))
    }
}

impl StoredAs<Uuid> for text::AsText {
    type Stored = String;
    const RULES: &'static [Rule] = &[Rule::Pattern(PATTERN)];

    fn to_stored(value: &Uuid) -> Result<String, ConversionError> {
        Ok(value.hyphenated().to_string())
    }

    fn from_stored(text: String) -> Result<Uuid, ConversionError> {
        // No other form is equal to it in a filter.
        let uuid = Uuid::try_parse(&text).ok();
        uuid.filter(|uuid| uuid.hyphenated().to_string() == text)
            .ok_or_else(|| {
                ConversionError::new(format!(
                    "{text:?} is not a UUID in small letters with hyphens"
                ))
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::text::AsText;
    use super::*;

    proptest! {
        #[test]
        fn uuids_are_read_back(bits: u128, other: u128) {
            let (uuid, other) = (Uuid::from_u128(bits), Uuid::from_u128(other));
            prop_assert_eq!(AsBinary::from_stored(AsBinary::to_stored(&uuid).unwrap()), Ok(uuid));
            let (x, y) = (AsText::to_stored(&uuid).unwrap(), AsText::to_stored(&other).unwrap());
            prop_assert_eq!(x.cmp(&y), uuid.cmp(&other));
            prop_assert_eq!(AsText::from_stored(x), Ok(uuid));
        }
    }

    #[test]
    fn other_text_is_refused() {
        for bad in [
            "",
            "67E55044-10B1-426F-9247-BB680E5FE0C8",
            "67e5504410b1426f9247bb680e5fe0c8",
        ] {
            let read: Result<Uuid, _> = AsText::from_stored(bad.to_owned());
            assert!(read.is_err(), "{bad}");
        }
    }
}
