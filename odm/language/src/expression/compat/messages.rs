//! How mongod prints values in its messages.

use std::fmt::Write as _;

use bson::raw::{RawBsonRef, RawDocument};

use crate::expression::calendar;
use crate::value::{bson_type, print, raw};

/// A value as printed in messages about documents and specifications: `{ a: [ 1, 2 ] }`.
pub fn stored(value: RawBsonRef<'_>) -> String {
    print::whole(value)
}

/// A document in the form of [`stored`].
pub fn stored_document(document: &RawDocument) -> String {
    print::whole(RawBsonRef::Document(document))
}

/// One element in the form of [`stored`]: `a: [ 1, 2 ]`.
pub fn element(name: &str, value: RawBsonRef<'_>) -> String {
    format!("{name}: {}", print::whole(value))
}

/// A value as printed in messages of expressions: `{a: [1, 2]}`.
pub fn computed(value: RawBsonRef<'_>) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

/// mongod's name for the type of a value: `int`, `object`, …; `missing` for `None`.
pub fn type_name(value: Option<RawBsonRef<'_>>) -> &'static str {
    value.map_or("missing", |value| bson_type::alias(value.element_type()))
}

/// A double as mongod prints computed ones: six significant digits (`0.333333`, `1e+06`).
pub fn double(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..6).contains(&exponent) {
        let places = usize::try_from(5 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
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
        RawBsonRef::JavaScriptCode(code) => {
            let _ = write!(out, "Code(\"{code}\")");
        }
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            let scope = print::whole(RawBsonRef::Document(code.scope));
            let _ = write!(out, "CodeWScope(\"{}\", {scope})", code.code);
        }
        RawBsonRef::DbPointer(_) => {
            let (name, id) = print::pointer_parts(value);
            let _ = write!(out, "DBRef(\"{name}\", {id})");
        }
        RawBsonRef::Symbol(text) => {
            let _ = write!(out, "Symbol(\"{text}\")");
        }
        RawBsonRef::Binary(binary) => {
            let _ = write!(out, "BinData({}, \"", u8::from(binary.subtype));
            for byte in binary.bytes {
                let _ = write!(out, "{byte:02X}");
            }
            out.push_str("\")");
        }
        other => out.push_str(&print::whole(other)),
    }
}
