//! Documents that bson's `Bson` and `Document` would read as another value.
//!
//! `{"b": 1, "$date": …}` is a document to MongoDB, and a date to bson's visitor, which drops `b`. Saving what was read would
//! write the date over the document, so it is refused. A `RawBson` or a `RawDocumentBuf` reads it as it is.

use std::any::type_name;

use odm_language::value::raw::Elements;
use serde::de::Error;

use super::fault::Failed;

/// The visitor of `Bson`, `Document` and the types that read themselves as one of them.
const VISITOR: &str = "bson::de::serde::BsonVisitor";

/// The keys that have a meaning to that visitor.
const MARKS: [&str; 18] = [
    "$oid",
    "$symbol",
    "$numberInt",
    "$numberLong",
    "$numberDouble",
    "$numberDecimal",
    "$numberDecimalBytes",
    "$binary",
    "$uuid",
    "$code",
    "$scope",
    "$timestamp",
    "$regularExpression",
    "$dbPointer",
    "$date",
    "$maxKey",
    "$minKey",
    "$undefined",
];

/// Refuses a document that the visitor would read as another value.
#[inline]
pub(super) fn refuse<V>(document: &[u8]) -> Result<(), Failed> {
    if type_name::<V>() == VISITOR {
        return refuse_marks(document);
    }
    Ok(())
}

fn refuse_marks(document: &[u8]) -> Result<(), Failed> {
    let mut elements = Elements::new(document);
    while let Some(element) = elements.advance() {
        let key = element.key_bytes();
        if !key.starts_with(b"$") {
            continue;
        }
        if let Some(mark) = MARKS.iter().find(|mark| mark.as_bytes() == key) {
            return Err(Failed::custom(format_args!(
                "a `Bson` or a `Document` can't hold a document with the key `{mark}`, which bson reads as another value: \
                 declare a `RawBson` or a `RawDocumentBuf`"
            )));
        }
    }
    Ok(())
}
