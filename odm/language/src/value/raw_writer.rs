//! Encodes documents as raw BSON into one buffer, with the same bytes and errors as the bson crate.

use bson::raw::RawBsonRef;
use bson::raw::{CStr, RawBson, RawDocumentBuf};
use bson::spec::ElementType;
use bson::{Bson, Document, doc};

/// The bytes of a document. Returns bson's error if bson cannot encode the document.
pub fn document(document: &Document) -> Result<RawDocumentBuf, bson::error::Error> {
    let mut bytes = Vec::with_capacity(32 * (document.len() + 1));
    match append_document(&mut bytes, document) {
        Some(()) => RawDocumentBuf::from_bytes(bytes),
        None => RawDocumentBuf::try_from(document),
    }
}

/// The bytes of `{key: value}`.
pub fn one(key: &str, value: &Bson) -> Result<RawDocumentBuf, bson::error::Error> {
    let mut bytes = Vec::with_capacity(64);
    match framed(&mut bytes, |bytes| append(bytes, key, value)) {
        Some(()) => RawDocumentBuf::from_bytes(bytes),
        None => RawDocumentBuf::try_from(&doc! { key: value.clone() }),
    }
}

/// The bytes of `{outer: {key: value}}`.
pub fn one_in(outer: &str, key: &str, value: &Bson) -> Result<RawDocumentBuf, bson::error::Error> {
    let mut bytes = Vec::with_capacity(64);
    let written = framed(&mut bytes, |bytes| {
        name(bytes, outer, ElementType::EmbeddedDocument)?;
        framed(bytes, |bytes| append(bytes, key, value))
    });
    match written {
        Some(()) => RawDocumentBuf::from_bytes(bytes),
        None => RawDocumentBuf::try_from(&doc! { outer: { key: value.clone() } }),
    }
}

fn append_document(bytes: &mut Vec<u8>, document: &Document) -> Option<()> {
    framed(bytes, |bytes| {
        for (key, value) in document {
            append(bytes, key, value)?;
        }
        Some(())
    })
}

/// Writes a length prefix, the content and a closing NUL. The length is filled in last.
fn framed(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<()> {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    write(bytes)?;
    bytes.push(0);
    let length = i32::try_from(bytes.len() - start).ok()?;
    let place = bytes.get_mut(start..start + 4)?;
    place.copy_from_slice(&length.to_le_bytes());
    Some(())
}

/// Writes one element of raw BSON; `None` if its name contains a NUL.
pub fn raw_element(bytes: &mut Vec<u8>, key: &str, value: RawBsonRef<'_>) -> Option<()> {
    let name = |bytes: &mut Vec<u8>| name(bytes, key, value.element_type());
    match value {
        RawBsonRef::Double(value) => {
            name(bytes)?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        RawBsonRef::String(value) => {
            let length = i32::try_from(value.len() + 1).ok()?;
            name(bytes)?;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0);
        }
        RawBsonRef::Document(value) => {
            name(bytes)?;
            bytes.extend_from_slice(value.as_bytes());
        }
        RawBsonRef::Array(value) => {
            name(bytes)?;
            bytes.extend_from_slice(value.as_bytes());
        }
        RawBsonRef::Int32(value) => {
            name(bytes)?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        RawBsonRef::Int64(value) => {
            name(bytes)?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        RawBsonRef::DateTime(value) => {
            name(bytes)?;
            bytes.extend_from_slice(&value.timestamp_millis().to_le_bytes());
        }
        other => {
            let key = <&CStr>::try_from(key).ok()?;
            let mut alone = RawDocumentBuf::new();
            alone.append(key, other);
            let (element, _) = alone.as_bytes().get(4..)?.split_last_chunk::<1>()?;
            bytes.extend_from_slice(element);
        }
    }
    Some(())
}

/// Writes the type and the name of an element; `None` if the name contains a NUL.
fn name(bytes: &mut Vec<u8>, key: &str, kind: ElementType) -> Option<()> {
    if key.as_bytes().contains(&0) {
        return None;
    }
    bytes.push(kind as u8);
    bytes.extend_from_slice(key.as_bytes());
    bytes.push(0);
    Some(())
}

/// Writes one element; `None` if a name contains a NUL or a value is too long.
fn append(bytes: &mut Vec<u8>, key: &str, value: &Bson) -> Option<()> {
    let name = |bytes: &mut Vec<u8>, kind| name(bytes, key, kind);
    match value {
        Bson::Double(value) => {
            name(bytes, ElementType::Double)?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        Bson::String(value) => {
            name(bytes, ElementType::String)?;
            let length = i32::try_from(value.len() + 1).ok()?;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0);
        }
        Bson::Array(values) => {
            name(bytes, ElementType::Array)?;
            framed(bytes, |bytes| {
                for (index, value) in values.iter().enumerate() {
                    append(bytes, &index.to_string(), value)?;
                }
                Some(())
            })?;
        }
        Bson::Document(value) => {
            name(bytes, ElementType::EmbeddedDocument)?;
            append_document(bytes, value)?;
        }
        Bson::Boolean(value) => {
            name(bytes, ElementType::Boolean)?;
            bytes.push(u8::from(*value));
        }
        Bson::Null => name(bytes, ElementType::Null)?,
        Bson::Int32(value) => {
            name(bytes, ElementType::Int32)?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        Bson::Int64(value) => {
            name(bytes, ElementType::Int64)?;
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        Bson::ObjectId(value) => {
            name(bytes, ElementType::ObjectId)?;
            bytes.extend_from_slice(&value.bytes());
        }
        Bson::DateTime(value) => {
            name(bytes, ElementType::DateTime)?;
            bytes.extend_from_slice(&value.timestamp_millis().to_le_bytes());
        }
        other => {
            let key = <&CStr>::try_from(key).ok()?;
            let mut alone = RawDocumentBuf::new();
            alone.append(key, RawBson::try_from(other.clone()).ok()?);
            let (element, _) = alone.as_bytes().get(4..)?.split_last_chunk::<1>()?;
            bytes.extend_from_slice(element);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use bson::oid::ObjectId;
    use bson::{
        Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawDocumentBuf,
        Regex, Timestamp, doc,
    };

    use super::{document, one, one_in};

    /// Encodes the document again, element by element.
    fn framed_elements(document: &RawDocumentBuf) -> Vec<u8> {
        let mut bytes = Vec::new();
        super::framed(&mut bytes, |bytes| {
            for element in document {
                let (key, value) = element.unwrap();
                super::raw_element(bytes, key.as_str(), value)?;
            }
            Some(())
        })
        .unwrap();
        bytes
    }

    #[test]
    fn every_type_is_written_as_bson_writes_it() {
        let all = doc! {
            "double": -0.0,
            "string": "ä\0b",
            "document": { "a": { "b": [] }, "": 1 },
            "array": [1, [2, "x"], { "c": Bson::Null }],
            "binary": Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1, 2] },
            "old": Binary { subtype: bson::spec::BinarySubtype::BinaryOld, bytes: vec![1, 2] },
            "undefined": Bson::Undefined,
            "oid": ObjectId::from_bytes([2; 12]),
            "yes": true,
            "date": DateTime::from_millis(-1),
            "null": Bson::Null,
            "regex": Regex { pattern: "a".try_into().unwrap(), options: "xi".try_into().unwrap() },
            "code": Bson::JavaScriptCode("x".to_owned()),
            "scoped": JavaScriptCodeWithScope { code: "y".to_owned(), scope: doc! { "z": 1 } },
            "symbol": Bson::Symbol("s".to_owned()),
            "int": i32::MIN,
            "timestamp": Timestamp { time: 1, increment: 2 },
            "long": i64::MAX,
            "decimal": "1.5".parse::<Decimal128>().unwrap(),
            "min": Bson::MinKey,
            "max": Bson::MaxKey,
        };
        for written in [doc! {}, all] {
            let theirs = RawDocumentBuf::try_from(&written).unwrap();
            assert_eq!(document(&written).unwrap(), theirs);
            {
                let raw = framed_elements(&theirs);
                assert_eq!(raw, theirs.as_bytes());
            }
            let value = Bson::Document(written);
            let theirs = |document: &Document| RawDocumentBuf::try_from(document).unwrap();
            assert_eq!(one("a", &value).unwrap(), theirs(&doc! { "a": &value }));
            let nested = doc! { "a": { "b": &value } };
            assert_eq!(one_in("a", "b", &value).unwrap(), theirs(&nested));
        }
        for refused in [doc! { "a\0b": 1 }, doc! { "a": [{ "b\0": 1 }] }] {
            let theirs = RawDocumentBuf::try_from(&refused).unwrap_err();
            let ours = document(&refused).unwrap_err();
            assert_eq!(ours.to_string(), theirs.to_string());
            for (key, value) in &refused {
                for ours in [
                    one(key, value),
                    one_in(key, "a", value),
                    one_in("a", key, value),
                ] {
                    assert_eq!(ours.unwrap_err().to_string(), theirs.to_string());
                }
            }
        }
    }
}
