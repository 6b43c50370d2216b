//! Appends fields to raw documents.

use bson::raw::{RawBsonRef, RawDocumentBuf};

/// Appends a field. Names come from BSON or were checked, so they contain no NUL.
pub fn append(document: &mut RawDocumentBuf, key: &str, value: RawBsonRef<'_>) {
    if let Ok(key) = <&bson::raw::CStr>::try_from(key) {
        document.append(key, value);
    }
}

/// An empty document with room for this many bytes.
pub fn document_with_capacity(bytes: usize) -> RawDocumentBuf {
    let empty = RawDocumentBuf::new().into_bytes();
    let mut room = Vec::with_capacity(bytes.max(empty.len()));
    room.extend_from_slice(&empty);
    RawDocumentBuf::from_bytes(room).unwrap_or_default()
}
