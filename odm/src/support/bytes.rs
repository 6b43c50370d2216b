//! The crate's reader and writers of BSON, for this repository's own tools, which compare them with the
//! `bson` crate.

use bson::Document;
use bson::error::Error;
use bson::raw::RawDocumentBuf;
use odm_language::value::raw_writer;
use serde::{Deserialize, Serialize, de};

use crate::codec::{decode, encode};

/// Reads a stored document as collections do.
pub fn read<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Result<T, Error> {
    decode::read(document).map_err(de::Error::custom)
}

/// Writes a document as operations do.
pub fn write(document: &Document) -> Result<RawDocumentBuf, Error> {
    raw_writer::document(document)
}

/// Writes a value as collections store it; `None` if a key appears twice, or if it is nested too deeply.
pub fn encode<T: Serialize>(value: &T) -> Result<Option<RawDocumentBuf>, Error> {
    match encode::document(value) {
        Ok(document) => Ok(Some(document)),
        Err(encode::Failure::Repeated(_) | encode::Failure::TooDeep) => Ok(None),
        Err(encode::Failure::Bson(error)) => Err(error),
    }
}
