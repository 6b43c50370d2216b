//! How the value of a field is encoded: by the field's own serializer, never by another conversion.

use bson::Bson;
use serde::Serialize;

use crate::error::{EncodeError, Error, Result};

/// Encodes values of type `T` as the field stores them.
///
/// A field without a serializer of its own uses [`BySerde`]; for `#[serde(with = "…")]` and
/// `serialize_with` the derive makes a type that calls that function.
pub trait Encode<T: ?Sized> {
    /// The stored form of `value`.
    fn encode(value: &T) -> Result<Bson>;
}

/// Encodes by the type's own `Serialize`.
#[derive(Debug, Clone, Copy)]
pub enum BySerde {}

impl<T: Serialize + ?Sized> Encode<T> for BySerde {
    fn encode(value: &T) -> Result<Bson> {
        encode(value)
    }
}

/// Encodes one value through the serializer that encodes whole documents, so that a value in a
/// filter and the same value in a stored document are the same bytes.
///
/// ```
/// use bson::Bson;
/// assert_eq!(odm::query::encode(&7_u8)?, Bson::Int32(7));
/// assert_eq!(odm::query::encode(&7_u32)?, Bson::Int64(7));
/// assert!(odm::query::encode(&u64::MAX).is_err());
/// # Ok::<(), odm::Error>(())
/// ```
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Bson> {
    #[derive(Serialize)]
    struct Wrapper<'a, T: ?Sized> {
        v: &'a T,
    }
    unwrap(bson::serialize_to_raw_document_buf(&Wrapper { v: value }))
}

/// Takes the one value out of the document it was wrapped in; a value that serialized to nothing
/// is `null`.
fn unwrap(document: bson::error::Result<bson::RawDocumentBuf>) -> Result<Bson> {
    let value = document.and_then(|document| match document.get("v")? {
        Some(value) => Bson::try_from(value),
        None => Ok(Bson::Null),
    });
    value.map_err(|error| Error::new(EncodeError::from_source(error)))
}
