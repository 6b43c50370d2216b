//! Serializable values as raw BSON: the very bytes that bson makes of them, in fewer steps.
//!
//! One thing is refused that bson writes: a map with the same key twice, such as a struct whose flattened map repeats the
//! name of a field. The last step checks a document that could not be written here, so that only maps pay for it.
//!
//! bson alone decides the form of a value. bson writes the elements that have no short way here, and the whole document
//! where one of them fails.

mod repeated;
mod serializer;
mod strings;

use bson::Bson;
use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::value::raw;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use serializer::Place;

use crate::error::{EncodeError, Error};

/// Why a value can't be stored.
#[derive(Debug)]
pub(crate) enum Failure {
    /// bson can't write it.
    Bson(bson::error::Error),
    /// The path of a key that is there twice.
    Repeated(String),
}

impl Failure {
    /// The error that users see. No `From`: compile errors list the conversions into [`Error`].
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Bson(error) => Error::encode(error),
            Self::Repeated(path) => {
                let key = path.rsplit('.').next().unwrap_or(&path);
                let error = EncodeError::new(format!(
                    "the key `{key}` is there twice, and the document could not be read again: keep the names of fields \
                     and tags out of a flattened map"
                ));
                Error::new(error).with_path(path)
            }
        }
    }
}

/// Most documents need not grow further than to twice this.
const USUAL_SIZE: usize = 256;

/// The bytes of a document. What bson could not write is refused as bson refuses it.
pub(crate) fn document<T: Serialize>(value: &T) -> Result<RawDocumentBuf, Failure> {
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    if value.serialize(Place::outermost(&mut bytes)).is_ok() {
        return RawDocumentBuf::from_bytes(bytes).map_err(Failure::Bson);
    }
    let document = bson::serialize_to_raw_document_buf(value).map_err(Failure::Bson)?;
    check(&document, "")?;
    Ok(document)
}

/// One value, as a field of a document stores it. A value that serializes to nothing is null.
pub(crate) fn value<T: Serialize + ?Sized>(value: &T) -> Result<Bson, Failure> {
    const NAME: &str = "v";
    let alone = Alone(NAME, value);
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    let document = if alone.serialize(Place::outermost(&mut bytes)).is_ok() {
        RawDocumentBuf::from_bytes(bytes).map_err(Failure::Bson)?
    } else {
        let document = bson::serialize_to_raw_document_buf(&alone).map_err(Failure::Bson)?;
        check(&document, "v.")?;
        document
    };
    raw::get(&document, NAME).map_or(Ok(Bson::Null), |value| {
        Bson::try_from(value).map_err(Failure::Bson)
    })
}

/// Refuses a key that is there twice. Its path starts behind `root`.
#[cold]
fn check(document: &RawDocument, root: &str) -> Result<(), Failure> {
    match repeated::path(raw::walk(document)) {
        Some(path) => {
            let inside = path.strip_prefix(root);
            Err(Failure::Repeated(inside.unwrap_or(&path).to_owned()))
        }
        None => Ok(()),
    }
}

/// A document of one element.
struct Alone<'a, T: ?Sized>(&'a str, &'a T);

impl<T: Serialize + ?Sized> Serialize for Alone<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, self.1)?;
        map.end()
    }
}

#[cfg(test)]
mod tests;
