//! Bytes as binary data, for `#[serde(with = "odm::bytes")]`: `Vec<u8>` and `Box<[u8]>`.
//!
//! Without the module, serde writes a `Vec<u8>` as a list of numbers: an array, of about nine times the size. With it the bytes
//! are stored as binary data of subtype 0 (generic). Binary data of any subtype is read; an update that sets the field writes
//! subtype 0. Where the subtype matters, declare the field as a [`Binary`].
//!
//! ```
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "avatars")]
//! struct Avatar {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::bytes")]
//!     image: Vec<u8>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let avatars = db.collection::<Avatar>();
//! avatars.insert_one(&Avatar { id: 1, image: vec![0x89, b'P', b'N', b'G'] }).await?;
//! // {_id: 1, image: BinData(0, "iVBORw==")}
//!
//! let png = avatars.find_one(|a| a.image.eq([0x89, b'P', b'N', b'G'])).await?;
//! assert_eq!(png.ok_or("no avatar")?.image.len(), 4);
//! # Ok(())
//! # }
//! ```

use bson::Binary;
use bson::spec::BinarySubtype;

use super::stored_as::{ConversionError, StoredAs};

/// Binary data of subtype 0.
#[doc(hidden)]
#[derive(Debug)]
pub enum Generic {}

serializer!(Generic);

impl StoredAs<Vec<u8>> for Generic {
    type Stored = Binary;

    fn to_stored(bytes: &Vec<u8>) -> Result<Binary, ConversionError> {
        Ok(generic(bytes))
    }

    fn from_stored(stored: Binary) -> Result<Vec<u8>, ConversionError> {
        Ok(stored.bytes)
    }
}

impl StoredAs<Box<[u8]>> for Generic {
    type Stored = Binary;

    fn to_stored(bytes: &Box<[u8]>) -> Result<Binary, ConversionError> {
        Ok(generic(bytes))
    }

    fn from_stored(stored: Binary) -> Result<Box<[u8]>, ConversionError> {
        Ok(stored.bytes.into_boxed_slice())
    }
}

fn generic(bytes: &[u8]) -> Binary {
    Binary {
        subtype: BinarySubtype::Generic,
        bytes: bytes.to_vec(),
    }
}
