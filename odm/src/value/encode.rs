//! Serializable values as raw BSON: the very bytes that bson makes of them, in fewer steps.
//!
//! What this module is not: it decides nothing about the form of a value. What it has no short way for, and all that
//! fails, is left to bson: an element alone where that is enough, else the whole document.

mod serializer;
mod strings;

use bson::raw::RawDocumentBuf;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use serializer::Place;

/// Most documents need not grow further than to twice this.
const USUAL_SIZE: usize = 256;

/// The bytes of a document. What bson could not write is refused as bson refuses it.
pub(crate) fn document<T: Serialize>(value: &T) -> Result<RawDocumentBuf, bson::error::Error> {
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    match value.serialize(Place::outermost(&mut bytes)) {
        Ok(()) => RawDocumentBuf::from_bytes(bytes),
        Err(_) => bson::serialize_to_raw_document_buf(value),
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
