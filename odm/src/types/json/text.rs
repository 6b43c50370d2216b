//! Extended JSON: text to documents, and documents to text.
//!
//! Reads both forms of version 2, canonical and relaxed, and those parts of version 1 that mongoimport reads:
//! dates as numbers, and binary values with a `$type`. Fields keep their order, and doubles keep every bit.

use std::fmt;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, JavaScriptCodeWithScope};
use serde::Deserializer as _;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;

use odm_language::value::raw;

use super::extended::Nested;

/// The documents of a text: one after the other, or all in an array. The error names the document and the
/// line.
pub(crate) fn documents(text: &[u8]) -> Result<Vec<RawDocumentBuf>, String> {
    let mut documents = Vec::new();
    let mut reader = reader(text);
    // On bytes in memory, `end` fails only if more than white space is left.
    while reader.end().is_err() {
        let read = (&mut reader).deserialize_any(TopLevel(&mut documents));
        read.map_err(|error| format!("document {}: {error}", documents.len() + 1))?;
    }
    Ok(documents)
}

/// The one document of a text.
pub(crate) fn document(text: &[u8]) -> Result<Document, String> {
    let mut reader = reader(text);
    let document = Nested::TOP
        .deserialize(&mut reader)
        .and_then(|value| {
            reader.end()?;
            as_document(value)
        })
        .map_err(|error| error.to_string())?;
    Ok(document)
}

fn reader(text: &[u8]) -> Deserializer<serde_json::de::SliceRead<'_>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut reader = Deserializer::from_slice(text);
    // `Nested` enforces the depth limit of documents instead.
    reader.disable_recursion_limit();
    reader
}

fn as_document<E: serde::de::Error>(value: Bson) -> Result<Document, E> {
    match value {
        Bson::Document(document) => Ok(document),
        other => Err(E::custom(format!(
            "expected a document, found a value: {other}"
        ))),
    }
}

/// A document, or an array of documents.
struct TopLevel<'d>(&'d mut Vec<RawDocumentBuf>);

impl TopLevel<'_> {
    fn push<E: serde::de::Error>(&mut self, value: Bson) -> Result<(), E> {
        let document = as_document(value)?;
        let document = RawDocumentBuf::try_from(&document).map_err(E::custom)?;
        raw::validate_at(&document, 1).map_err(|error| E::custom(error.message()))?;
        self.0.push(document);
        Ok(())
    }
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document, or an array of documents")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        let document = Nested::TOP.visit_map(map)?;
        self.push(document)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(value) = elements.next_element_seed(Nested::TOP)? {
            self.push(value)?;
        }
        Ok(())
    }
}

/// The canonical form of a document, in which every value keeps its type.
pub(crate) fn to_text(document: &Document) -> String {
    let mut text = String::new();
    write_document(document, Bson::into_canonical_extjson, &mut text);
    text
}

/// The relaxed form of a document, in which numbers and dates are as readers expect them.
pub(crate) fn to_relaxed_text(document: &Document) -> String {
    let mut text = String::new();
    write_document(document, Bson::into_relaxed_extjson, &mut text);
    text
}

/// Writes a value that holds no documents with fields of their own.
type Leaf = fn(Bson) -> serde_json::Value;

fn write_document(document: &Document, leaf: Leaf, text: &mut String) {
    text.push('{');
    for (at, (name, value)) in document.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::Value::from(name.as_str()).to_string());
        text.push(':');
        write_value(value, leaf, text);
    }
    text.push('}');
}

fn write_value(value: &Bson, leaf: Leaf, text: &mut String) {
    match value {
        Bson::Document(document) => write_document(document, leaf, text),
        Bson::Array(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_value(value, leaf, text);
            }
            text.push(']');
        }
        Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope }) => {
            text.push_str("{\"$code\":");
            text.push_str(&serde_json::Value::from(code.as_str()).to_string());
            text.push_str(",\"$scope\":");
            write_document(scope, leaf, text);
            text.push('}');
        }
        // bson's own conversion sorts the fields of documents; no other value has any whose order counts.
        other => text.push_str(&leaf(other.clone()).to_string()),
    }
}

#[cfg(test)]
mod tests;
