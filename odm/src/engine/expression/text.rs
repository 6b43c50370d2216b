//! How the server prints values in its messages.

use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::expression::calendar;
use crate::error::{Code, ServerError};
use crate::value::{kind, print, raw};

/// A value as it stands in messages about documents and specifications: `{ a: [ 1, 2 ] }`.
pub(crate) fn stored(value: RawBsonRef<'_>) -> String {
    print::value(value)
}

/// A document in the same dialect.
pub(crate) fn stored_document(document: &RawDocument) -> String {
    print::document(document)
}

/// One element in the same dialect: `a: [ 1, 2 ]`.
pub(crate) fn element(name: &str, value: RawBsonRef<'_>) -> String {
    print::field(name, value)
}

/// A value as it stands in messages of expressions: `{a: [1, 2]}`.
pub(crate) fn computed(value: RawBsonRef<'_>) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

/// The server's word for a value's type: `int`, `object`, …; `missing` where there is none.
pub(crate) fn type_name(value: Option<RawBsonRef<'_>>) -> &'static str {
    value.map_or("missing", |value| kind::alias(value.element_type()))
}

/// An error of the expression or stage with this number.
pub(crate) fn location(number: i32, message: impl Into<String>) -> ServerError {
    ServerError::new(Code::location(number), message)
}

/// The shortest text of a double that reads back as the same (`1.0`, `1e+20`), as `%.15g` or `%.17g` would print it.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    format!("{value}")
}

fn write(out: &mut String, value: RawBsonRef<'_>) {
    match value {
        RawBsonRef::Document(document) => {
            out.push('{');
            for (index, (key, value)) in raw::elements(document).enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(key);
                out.push_str(": ");
                write(out, value);
            }
            out.push('}');
        }
        RawBsonRef::Array(array) => {
            out.push('[');
            for (index, value) in raw::values(array).enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write(out, value);
            }
            out.push(']');
        }
        RawBsonRef::Double(n) => out.push_str(&double(n)),
        RawBsonRef::ObjectId(id) => out.push_str(&id.to_hex()),
        RawBsonRef::DateTime(date) => out.push_str(&calendar::iso(date.timestamp_millis())),
        other => out.push_str(&print::value(other)),
    }
}
