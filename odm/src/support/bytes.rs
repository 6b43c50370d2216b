//! The reader and the writer of BSON, for this repository's own tools, which hold them against bson's.

use bson::Document;
use bson::error::Error;
use bson::raw::RawDocumentBuf;
use serde::Deserialize;

use crate::value::{read, write};

/// Reads a stored document as collections do.
pub fn read<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Result<T, Error> {
    read::read(document)
}

/// Writes a document as operations do.
pub fn write(document: &Document) -> Result<RawDocumentBuf, Error> {
    write::document(document)
}
