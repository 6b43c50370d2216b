//! Appends fields to raw documents.

use bson::raw::{RawBsonRef, RawDocumentBuf};

/// Appends a field. Names come from BSON or were checked, so they contain no NUL.
pub fn append(document: &mut RawDocumentBuf, key: &str, value: RawBsonRef<'_>) {
    if let Ok(key) = <&bson::raw::CStr>::try_from(key) {
        document.append(key, value);
    }
}
