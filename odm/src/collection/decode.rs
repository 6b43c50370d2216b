//! Stored bytes into structs.

use bson::Bson;
use bson::raw::RawDocument;
use serde::de::DeserializeOwned;

use crate::error::{DecodeError, Error, Result};
use crate::value::read::{read, trace};

/// Reads a stored document straight from its bytes.
pub(crate) fn decode<T: DeserializeOwned>(raw: &RawDocument, model: &'static str) -> Result<T> {
    read(raw.as_bytes()).or_else(|_| again(raw, model))
}

/// Reads it as bson does, or reports why it can't be read.
#[cold]
fn again<T: DeserializeOwned>(raw: &RawDocument, model: &'static str) -> Result<T> {
    bson::deserialize_from_slice(raw.as_bytes()).map_err(|failure| failed::<T>(raw, model, failure))
}

/// What is wrong with the document, and where: only a failure is worth a second pass.
#[cold]
fn failed<T: DeserializeOwned>(
    raw: &RawDocument,
    model: &'static str,
    failure: bson::error::Error,
) -> Error {
    // bson's own reason is the fallback: it refuses maps that this crate reads.
    let (mut path, failure) = match trace::<T>(raw.as_bytes()) {
        Some(traced) => (Some(traced.path().to_string()), traced.into_inner()),
        None => (None, failure),
    };
    path = path.filter(|path| path != ".");
    let id = raw.get("_id").ok().flatten();
    let id = id.and_then(|id| Bson::try_from(id).ok());
    let mut message = said(&failure);
    if let Some(field) = missing(&message) {
        path = Some(match path {
            Some(parent) => format!("{parent}.{field}"),
            None => field.to_owned(),
        });
        message += ": mark it `#[serde(default)]`, or give the stored document one";
    } else {
        message += ": declare the field as it is stored, or repair the stored document";
    }
    let error = Error::new(DecodeError::new(id, message, Some(Box::new(failure))));
    let error = error.with_model(model);
    match path {
        Some(path) => error.with_path(path),
        None => error,
    }
}

/// What a deserializer says, without what BSON says around it.
pub(crate) fn said(failure: &bson::error::Error) -> String {
    let message = failure.message.clone();
    message.unwrap_or_else(|| failure.to_string())
}

/// The field that serde misses.
fn missing(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Reads an `_id` that the server sent.
pub(crate) fn decode_id<M: crate::model::Document>(id: Bson) -> Result<M::Id> {
    bson::deserialize_from_bson(id.clone()).map_err(|failure| {
        let message = said(&failure);
        Error::new(DecodeError::new(Some(id), message, Some(Box::new(failure))))
            .with_model(M::model().name)
            .with_path("_id")
    })
}
