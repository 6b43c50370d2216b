//! How explanations of failures show the considered values.

use bson::{Bson, Document, RawBsonRef, RawDocument};

use crate::value::bson_type;

/// Adds the considered values.
pub(super) fn considered(details: &mut Document, values: &[RawBsonRef<'_>]) {
    match values {
        [only] => details.insert("consideredValue", owned(*only)),
        values => {
            let values: Vec<Bson> = values.iter().map(|value| owned(*value)).collect();
            details.insert("consideredValues", values)
        }
    };
}

/// Adds the types of the considered values.
pub(super) fn types(details: &mut Document, values: &[RawBsonRef<'_>]) {
    let mut names: Vec<&str> = values
        .iter()
        .map(|value| bson_type::alias(value.element_type()))
        .collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => None,
        [only] => details.insert("consideredType", *only),
        names => details.insert("consideredTypes", names.to_vec()),
    };
}

/// Decodes a value for the details. Invalid BSON was refused on arrival, so decoding does not fail.
pub(super) fn owned(value: RawBsonRef<'_>) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Undefined)
}

/// Decodes a document for the details.
pub(super) fn decoded(document: &RawDocument) -> Document {
    Document::try_from(document).unwrap_or_default()
}
