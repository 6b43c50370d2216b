//! Extended JSON: text to documents, and documents to text.
//!
//! Reads both forms of version 2, canonical and relaxed, and those parts of version 1 that mongoimport reads:
//! dates as numbers, and binary values with a `$type`. Fields keep their order, and doubles keep every bit.

use std::fmt;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, JavaScriptCodeWithScope, doc};
use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;

use odm_language::value::raw::{self, MAX_DEPTH};

/// The field names that mark a document as the spelling of another value.
const MARKS: [&str; 16] = [
    "$oid",
    "$symbol",
    "$regularExpression",
    "$numberInt",
    "$numberLong",
    "$numberDouble",
    "$numberDecimal",
    "$binary",
    "$uuid",
    "$code",
    "$timestamp",
    "$date",
    "$minKey",
    "$maxKey",
    "$dbPointer",
    "$undefined",
];

/// The documents of a text: one after the other, or all in an array. The error names the document and the
/// line.
pub(super) fn documents(text: &[u8]) -> Result<Vec<RawDocumentBuf>, String> {
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
pub(super) fn document(text: &[u8]) -> Result<Document, String> {
    let mut reader = reader(text);
    let document = Nested { depth: 1 }
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
            "a document is expected, and this is a value: {other}"
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
        let document = Nested { depth: 1 }.visit_map(map)?;
        self.push(document)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(value) = elements.next_element_seed(Nested { depth: 1 })? {
            self.push(value)?;
        }
        Ok(())
    }
}

/// Reads a value at this depth.
#[derive(Clone, Copy)]
struct Nested {
    depth: usize,
}

impl Nested {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        // Values that are spelled as documents add levels to the text, so the limit here is larger.
        if self.depth > MAX_DEPTH + 2 {
            return Err(E::custom(format!(
                "documents nest {MAX_DEPTH} deep at most"
            )));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Bson;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Bson, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Bson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Bson, E> {
        Ok(Bson::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Bson, E> {
        Ok(Bson::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Bson, E> {
        Ok(i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Bson, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => Err(E::custom(format!(
                "{value} is no 64-bit integer: write it with a fraction, as a double, or as a $numberDecimal"
            ))),
        }
    }

    fn visit_f64<E>(self, value: f64) -> Result<Bson, E> {
        Ok(Bson::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Bson, E> {
        Ok(Bson::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Bson, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(value) = elements.next_element_seed(inner)? {
            array.push(value);
        }
        Ok(Bson::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Bson, A::Error> {
        let inner = self.deeper()?;
        let mut document = Document::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name.contains('\0') {
                return Err(A::Error::custom(format!("the name {name:?} holds a null")));
            }
            if document.contains_key(&name) {
                return Err(A::Error::custom(format!("the field `{name}` stands twice")));
            }
            let value = fields.next_value_seed(inner)?;
            document.insert(name, value);
        }
        match marked(&document) {
            Some(mark) => value(mark, document)
                .map_err(|why| A::Error::custom(format!("no {mark} is spelled so: {why}"))),
            None => Ok(Bson::Document(document)),
        }
    }
}

fn marked(document: &Document) -> Option<&'static str> {
    let name = document.keys().find(|name| name.starts_with('$'))?;
    // In metadata, most names that begin with `$` are operators.
    let known = |name: &&'static str| document.contains_key(name);
    MARKS
        .into_iter()
        .find(|mark| mark == name)
        .or_else(|| MARKS.into_iter().find(known))
}

/// The value that a document with one of the marks spells.
fn value(mark: &str, mut document: Document) -> Result<Bson, String> {
    match mark {
        "$code" => {
            // Keeps the order of the scope's fields, which the conversion below would lose.
            if let Some(Bson::Document(scope)) = document.get("$scope")
                && let Some(Bson::String(code)) = document.get("$code")
                && document.len() == 2
            {
                let (code, scope) = (code.clone(), scope.clone());
                return Ok(JavaScriptCodeWithScope { code, scope }.into());
            }
        }
        "$binary" => {
            if let Some(Bson::String(base64)) = document.get("$binary")
                && let Some(kind) = document.get("$type")
                && document.len() == 2
            {
                let subtype = match kind {
                    Bson::Int32(kind) => format!("{kind:02x}"),
                    Bson::String(kind) => format!("{kind:0>2}"),
                    other => return Err(format!("$type is {other}")),
                };
                document = doc! { mark: { "base64": base64, "subType": subtype } };
            }
        }
        "$date" => {
            if let Some(Bson::String(date)) = document.get_mut("$date") {
                punctuate_offset(date);
            }
        }
        _ => {}
    }
    // Values inside are already converted; here they are spelled again for bson's own conversion.
    Bson::try_from(serde_json::Value::from(Bson::Document(document)))
        .map_err(|error| error.to_string())
}

/// `+0100`, as older tools write the offset of a date, to `+01:00`.
fn punctuate_offset(date: &mut String) {
    let is_bare = date
        .len()
        .checked_sub(5)
        .and_then(|at| date.get(at..))
        .and_then(|offset| offset.strip_prefix(['+', '-']))
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_bare {
        date.insert(date.len() - 2, ':');
    }
}

/// The canonical form of a document.
pub(super) fn to_text(document: &Document) -> String {
    let mut text = String::new();
    write_document(document, &mut text);
    text
}

fn write_document(document: &Document, text: &mut String) {
    text.push('{');
    for (at, (name, value)) in document.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::Value::from(name.as_str()).to_string());
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

fn write_value(value: &Bson, text: &mut String) {
    match value {
        Bson::Document(document) => write_document(document, text),
        Bson::Array(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_value(value, text);
            }
            text.push(']');
        }
        Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope }) => {
            text.push_str("{\"$code\":");
            text.push_str(&serde_json::Value::from(code.as_str()).to_string());
            text.push_str(",\"$scope\":");
            write_document(scope, text);
            text.push('}');
        }
        // bson's own conversion sorts the fields of documents; no other value has any whose order counts.
        other => text.push_str(&other.clone().into_canonical_extjson().to_string()),
    }
}

#[cfg(test)]
mod tests;
