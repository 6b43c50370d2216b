//! Encodes serde values as raw BSON: the same bytes as the `bson` crate, in fewer steps.
//!
//! Unlike bson, it refuses maps with a repeated key, such as a struct whose flattened map repeats a field's name. Only
//! maps are checked as they are written; a document that bson had to write is checked as a whole.
//!
//! bson defines the form of every value. Elements without a fast path here are written by bson, and so is the whole
//! document if one of its values fails.

mod repeated;
mod serializer;
mod strings;

use bson::Bson;
use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::value::raw;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use serializer::{Left, Place};
use strings::Key;

use crate::error::{EncodeError, Error};

/// Why a value can't be stored.
#[derive(Debug)]
pub(crate) enum Failure {
    /// bson can't encode the value.
    Bson(bson::error::Error),
    /// The path of a repeated key.
    Repeated(String),
    /// Documents and arrays are nested on more levels than a command of MongoDB has.
    TooDeep,
}

impl Failure {
    /// Converts the failure into the public error. It is not a `From` impl, because compile errors list the
    /// conversions into [`Error`].
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Bson(error) => Error::encode(error),
            Self::Repeated(path) => {
                let key = path.rsplit('.').next().unwrap_or(&path);
                let error = EncodeError::new(format!(
                    "the key `{key}` occurs twice, so the document could not be read back: keep the names of fields \
                     and tags out of a flattened map"
                ));
                Error::new(error).with_path(path)
            }
            Self::TooDeep => Error::too_deep(),
        }
    }
}

/// The initial capacity for a document, which most documents outgrow at most once.
const USUAL_SIZE: usize = 256;

/// The text of a map's key, if it is text that may be a key of a document.
pub(crate) fn key<T: Serialize + ?Sized>(key: &T) -> Option<String> {
    let mut bytes = Vec::new();
    key.serialize(Key(&mut bytes)).ok()?;
    // The last byte ends the key.
    bytes.pop()?;
    String::from_utf8(bytes).ok()
}

/// Encodes a document. Values that bson can't encode fail with bson's error.
pub(crate) fn document<T: Serialize>(value: &T) -> Result<RawDocumentBuf, Failure> {
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    match value.serialize(Place::outermost(&mut bytes)) {
        Ok(()) => RawDocumentBuf::from_bytes(bytes).map_err(Failure::Bson),
        Err(Left::TooDeep) => Err(Failure::TooDeep),
        Err(Left::Unknown | Left::Failed) => by_bson(&value, ""),
    }
}

/// Encodes one value, as in a document's field. A value that serializes to nothing becomes null.
pub(crate) fn value<T: Serialize + ?Sized>(value: &T) -> Result<Bson, Failure> {
    const NAME: &str = "v";
    let alone = Alone(NAME, value);
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    let document = match alone.serialize(Place::outermost(&mut bytes)) {
        Ok(()) => RawDocumentBuf::from_bytes(bytes).map_err(Failure::Bson)?,
        Err(Left::TooDeep) => return Err(Failure::TooDeep),
        Err(Left::Unknown | Left::Failed) => by_bson(&alone, "v.")?,
    };
    raw::get(&document, NAME).map_or(Ok(Bson::Null), |value| {
        Bson::try_from(value).map_err(Failure::Bson)
    })
}

/// A value of any type. bson's serializers are compiled for it once, and not for each type that a program stores.
type Erased<'a> = &'a dyn erased_serde::Serialize;

/// Encodes a document with bson, and refuses repeated keys. Their reported path does not include `root`.
#[cold]
fn by_bson(value: Erased<'_>, root: &str) -> Result<RawDocumentBuf, Failure> {
    let document = bson::serialize_to_raw_document_buf(&value).map_err(Failure::Bson)?;
    check(&document, root)?;
    Ok(document)
}

/// Encodes one element with bson; returns a document of it.
#[cold]
fn element_by_bson(key: &str, value: Erased<'_>) -> Result<Vec<u8>, Failure> {
    bson::serialize_to_vec(&Alone(key, value)).map_err(Failure::Bson)
}

/// The path of the field that bson can't encode, by a second pass: the first does not track paths, to be fast.
#[cold]
pub(crate) fn failing_path(document: Erased<'_>) -> Option<String> {
    match serde_path_to_error::serialize(document, bson::Serializer::new()) {
        Ok(value) => parent_of_nul(&value, ""),
        Err(error) => {
            let path = error.path().to_string();
            (path != ".").then_some(path)
        }
    }
}

/// The field of a document that is nested too deeply.
#[cold]
pub(crate) fn deepest_field(document: Erased<'_>) -> Option<String> {
    let mut bytes = Vec::new();
    let encoded = serde_path_to_error::serialize(document, Place::outermost(&mut bytes));
    let path = encoded.err()?.path().to_string();
    path.split('.').next().map(str::to_owned)
}

/// The path of the document that has a name with a NUL, which only raw BSON refuses.
fn parent_of_nul(value: &Bson, path: &str) -> Option<String> {
    let inside = |name: &str, value: &Bson| match path {
        "" => parent_of_nul(value, name),
        path => parent_of_nul(value, &format!("{path}.{name}")),
    };
    match value {
        Bson::Document(fields) if fields.keys().any(|name| name.contains('\0')) => {
            (!path.is_empty()).then(|| path.to_owned())
        }
        Bson::Document(fields) => fields.iter().find_map(|(name, value)| inside(name, value)),
        Bson::Array(values) => {
            let mut values = values.iter().enumerate();
            values.find_map(|(position, value)| inside(&position.to_string(), value))
        }
        _ => None,
    }
}

/// Refuses repeated keys.
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
