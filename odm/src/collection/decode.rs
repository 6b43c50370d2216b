//! Decodes stored bytes into structs.

use bson::Bson;
use bson::raw::RawDocument;
use serde::de::DeserializeOwned;

use crate::codec::decode::{Reason, read, trace, value};
use crate::error::{DecodeError, Error, Result};

/// Decodes a stored document directly from its bytes.
pub(crate) fn decode<T: DeserializeOwned>(raw: &RawDocument, model: &'static str) -> Result<T> {
    read(raw.as_bytes()).or_else(|_| again(raw, model))
}

/// Retries a document that [`read`] could not decode, with field names as text.
#[cold]
fn again<T: DeserializeOwned>(raw: &RawDocument, model: &'static str) -> Result<T> {
    trace(raw.as_bytes()).map_err(|reason| failed(raw, model, &reason))
}

/// The error for a document that can't be decoded, with the path, the reason and a remedy.
#[cold]
fn failed(raw: &RawDocument, model: &'static str, reason: &Reason) -> Error {
    let mut path = reason.path();
    let id = raw.get("_id").ok().flatten();
    let id = id.and_then(|id| Bson::try_from(id).ok());
    let mut message = reason.message().to_owned();
    if let Some(field) = missing(&message) {
        path = Some(match path {
            Some(parent) => format!("{parent}.{field}"),
            None => field.to_owned(),
        });
        message += ": mark it `#[serde(default)]`, or add the field to the stored document";
    } else if message.starts_with("unknown variant `")
        && let Some(path) = &path
    {
        message += ": declare the variant, or leave such documents out by a filter of `";
        message += path;
        message += "`";
    } else {
        message += ": declare the field as it is stored, or repair the stored document";
    }
    let error = Error::new(DecodeError::new(id, message, None));
    let error = error.with_model(model);
    match path {
        Some(path) => error.with_path(path),
        None => error,
    }
}

/// The deserializer's message, without the text that bson puts around it.
pub(crate) fn said(failure: &bson::error::Error) -> String {
    let message = failure.message.clone();
    message.unwrap_or_else(|| failure.to_string())
}

/// The name in serde's "missing field" message.
fn missing(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Decodes an `_id` that the server sent.
pub(crate) fn decode_id<M: crate::model::Document>(id: Bson) -> Result<M::Id> {
    decode_key(id, value, M::model().name, "_id")
}

/// Reads a field that identifies a document by the function `read`.
pub(crate) fn decode_key<K>(
    key: Bson,
    read: impl FnOnce(Bson) -> std::result::Result<K, bson::error::Error>,
    model: &'static str,
    path: &str,
) -> Result<K> {
    read(key.clone()).map_err(|failure| {
        let message = said(&failure);
        Error::new(DecodeError::new(
            Some(key),
            message,
            Some(Box::new(failure)),
        ))
        .with_model(model)
        .with_path(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    struct Email(String);

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    enum Day {
        Monday,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Both {
        by_mail: BTreeMap<Email, i32>,
        #[serde(flatten)]
        by_day: BTreeMap<Day, i32>,
    }

    #[test]
    fn maps_with_newtype_and_enum_keys_are_read() {
        let both = Both {
            by_mail: [(Email("ada@example.com".to_owned()), 1)].into(),
            by_day: [(Day::Monday, 2)].into(),
        };
        let raw = bson::serialize_to_raw_document_buf(&both).unwrap();
        assert_eq!(decode::<Both>(&raw, "Both").unwrap(), both);
    }

    #[test]
    fn a_document_that_bson_reads_as_another_value_is_refused() {
        let value = bson::doc! { "b": 1, "$date": { "$numberLong": "5" } };
        let raw = bson::serialize_to_raw_document_buf(&bson::doc! { "a": value }).unwrap();
        let refusal = decode::<BTreeMap<String, Bson>>(&raw, "Note").unwrap_err();
        assert_eq!(refusal.path(), Some("a"), "{refusal}");
        assert!(refusal.to_string().contains("RawBson"), "{refusal}");
    }
}
