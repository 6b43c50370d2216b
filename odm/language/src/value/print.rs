//! Prints values as mongod does in its messages: `{ a: 1, b: "x" }`.

use std::fmt::Write as _;

use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr, spec::BinarySubtype};

use crate::value::raw;

/// Messages cut strings of at least this many bytes.
const LONG: usize = 160;
/// The maximum number of bytes that remain of a cut string.
const SHOWN: usize = 150;

/// A document, as in `{ a: 1 }`; its long strings are cut.
pub fn document(document: &RawDocument) -> String {
    let mut text = String::new();
    write_document(&mut text, document, Strings::Cut);
    text
}

/// A value, as in `"x"`; long strings are cut.
pub fn value(value: RawBsonRef<'_>) -> String {
    let mut text = String::new();
    write_value(&mut text, value, Strings::Cut);
    text
}

/// A field with its value, as in `a: 1`; long strings are cut.
pub fn field(key: &str, value: RawBsonRef<'_>) -> String {
    let mut text = format!("{key}: ");
    write_value(&mut text, value, Strings::Cut);
    text
}

/// A value with its strings in full.
pub fn whole(value: RawBsonRef<'_>) -> String {
    let mut text = String::new();
    write_value(&mut text, value, Strings::Whole);
    text
}

#[derive(Debug, Clone, Copy)]
enum Strings {
    Whole,
    Cut,
}

fn write_document(text: &mut String, document: &RawDocument, strings: Strings) {
    if document.is_empty() {
        text.push_str("{}");
        return;
    }
    let mut separator = "{ ";
    for (key, value) in raw::elements(document) {
        text.push_str(separator);
        text.push_str(key);
        text.push_str(": ");
        write_value(text, value, strings);
        separator = ", ";
    }
    text.push_str(" }");
}

fn write_array(text: &mut String, array: &RawArray, strings: Strings) {
    if array.is_empty() {
        text.push_str("[]");
        return;
    }
    let mut separator = "[ ";
    for value in raw::values(array) {
        text.push_str(separator);
        write_value(text, value, strings);
        separator = ", ";
    }
    text.push_str(" ]");
}

fn write_string(text: &mut String, string: &str, strings: Strings) {
    text.push('"');
    match strings {
        Strings::Cut if string.len() >= LONG => {
            let cut = (0..=SHOWN).rev().find_map(|end| string.get(..end));
            text.push_str(cut.unwrap_or_default());
            text.push_str("...");
        }
        _ => text.push_str(string),
    }
    text.push('"');
}

fn write_value(text: &mut String, value: RawBsonRef<'_>, strings: Strings) {
    match value {
        RawBsonRef::Double(value) => text.push_str(&double(value)),
        RawBsonRef::String(value) | RawBsonRef::Symbol(value) => {
            write_string(text, value, strings);
        }
        RawBsonRef::Array(value) => write_array(text, value, strings),
        RawBsonRef::Document(value) => write_document(text, value, strings),
        RawBsonRef::Boolean(value) => push(text, format_args!("{value}")),
        RawBsonRef::Null => text.push_str("null"),
        RawBsonRef::RegularExpression(regex) => push(
            text,
            format_args!("/{}/{}", regex.pattern.as_str(), regex.options.as_str()),
        ),
        RawBsonRef::JavaScriptCode(code) => text.push_str(code),
        RawBsonRef::JavaScriptCodeWithScope(code) => push(
            text,
            format_args!("CodeWScope( {}, {})", code.code, document(code.scope)),
        ),
        RawBsonRef::Int32(value) => push(text, format_args!("{value}")),
        RawBsonRef::Timestamp(value) => push(
            text,
            format_args!("Timestamp({}, {})", value.time, value.increment),
        ),
        RawBsonRef::Int64(value) => push(text, format_args!("{value}")),
        RawBsonRef::Binary(value) => match <[u8; 16]>::try_from(value.bytes) {
            Ok(bytes) if value.subtype == BinarySubtype::Uuid => {
                push(
                    text,
                    format_args!("UUID(\"{}\")", bson::Uuid::from_bytes(bytes)),
                );
            }
            _ => {
                push(text, format_args!("BinData({}, ", u8::from(value.subtype)));
                hex(text, value.bytes);
                text.push(')');
            }
        },
        RawBsonRef::ObjectId(value) => push(text, format_args!("ObjectId('{value}')")),
        RawBsonRef::DateTime(value) => {
            push(text, format_args!("new Date({})", value.timestamp_millis()));
        }
        RawBsonRef::Decimal128(value) => push(text, format_args!("{value}")),
        RawBsonRef::Undefined => text.push_str("undefined"),
        RawBsonRef::MaxKey => text.push_str("MaxKey"),
        RawBsonRef::MinKey => text.push_str("MinKey"),
        RawBsonRef::DbPointer(_) => db_pointer(text, value),
    }
}

/// The collection and the id of a `DBPointer`, read from its bytes because bson keeps its fields private.
pub fn pointer_parts(value: RawBsonRef<'_>) -> (String, String) {
    let mut holder = RawDocumentBuf::new();
    holder.append(cstr!("p"), value);
    let bytes = raw::walk(&holder)
        .next()
        .map(|element| element.value_bytes().to_vec())
        .unwrap_or_default();
    let (name, id) = bytes
        .split_at_checked(bytes.len().saturating_sub(12))
        .unwrap_or_default();
    let name = name
        .get(4..name.len().saturating_sub(1))
        .unwrap_or_default();
    let mut digits = String::new();
    hex(&mut digits, id);
    (
        String::from_utf8_lossy(name).into_owned(),
        digits.to_lowercase(),
    )
}

fn db_pointer(text: &mut String, value: RawBsonRef<'_>) {
    let (name, id) = pointer_parts(value);
    push(text, format_args!("DBRef('{name}',{id})"));
}

/// Appends two digits for each byte, in upper case.
pub(crate) fn hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        push(text, format_args!("{byte:02X}"));
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("writing to a string does not fail");
}

/// A double as mongod prints it: 16 significant digits, and at least one decimal place.
pub fn double(value: f64) -> String {
    if value.is_nan() {
        return "nan.0".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf.0" } else { "-inf.0" }.into();
    }
    let mut text = significant(value, 16);
    if !text.contains('.') {
        text.push_str(".0");
    }
    text
}

/// C's `%.{digits}g`.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.into();
    }
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= limit {
        let mantissa = trim_zeros(mantissa);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let places = usize::try_from(limit - 1 - exponent).unwrap_or(0);
    trim_zeros(&format!("{value:.places$}")).to_owned()
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}
