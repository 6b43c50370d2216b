//! Canonical Extended JSON, the form of the recorded cases.

use std::fmt::Write as _;

use odm::bson::{Bson, Document};

pub(crate) fn json(document: &Document) -> String {
    let mut out = String::new();
    put_document(&mut out, document);
    out
}

fn put_document(out: &mut String, document: &Document) {
    out.push('{');
    for (at, (key, value)) in document.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        put_string(out, key);
        out.push_str(": ");
        put(out, value);
    }
    out.push('}');
}

fn put_string(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            char if char < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}

fn put_tagged(out: &mut String, tag: &str, text: &str) {
    let _ = write!(out, "{{\"{tag}\": ");
    put_string(out, text);
    out.push('}');
}

fn put(out: &mut String, value: &Bson) {
    match value {
        Bson::Document(document) => put_document(out, document),
        Bson::Array(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                put(out, value);
            }
            out.push(']');
        }
        Bson::String(text) => put_string(out, text),
        Bson::Null => out.push_str("null"),
        Bson::Undefined => out.push_str("{\"$undefined\": true}"),
        Bson::Boolean(value) => {
            let _ = write!(out, "{value}");
        }
        Bson::Int32(value) => put_tagged(out, "$numberInt", &value.to_string()),
        Bson::Int64(value) => put_tagged(out, "$numberLong", &value.to_string()),
        Bson::Double(value) => put_tagged(out, "$numberDouble", &double(*value)),
        Bson::Decimal128(value) => put_tagged(out, "$numberDecimal", &value.to_string()),
        Bson::ObjectId(value) => put_tagged(out, "$oid", &value.to_hex()),
        Bson::DateTime(value) => {
            let _ = write!(
                out,
                "{{\"$date\": {{\"$numberLong\": \"{}\"}}}}",
                value.timestamp_millis()
            );
        }
        Bson::Timestamp(value) => {
            let _ = write!(
                out,
                "{{\"$timestamp\": {{\"t\": {}, \"i\": {}}}}}",
                value.time, value.increment
            );
        }
        Bson::RegularExpression(regex) => {
            out.push_str("{\"$regularExpression\": {\"pattern\": ");
            put_string(out, regex.pattern.as_str());
            out.push_str(", \"options\": ");
            put_string(out, regex.options.as_str());
            out.push_str("}}");
        }
        Bson::Binary(binary) => {
            let _ = write!(
                out,
                "{{\"$binary\": {{\"base64\": \"{}\", \"subType\": \"{:02x}\"}}}}",
                base64(&binary.bytes),
                u8::from(binary.subtype)
            );
        }
        Bson::JavaScriptCode(code) => put_tagged(out, "$code", code),
        Bson::JavaScriptCodeWithScope(code) => {
            out.push_str("{\"$code\": ");
            put_string(out, &code.code);
            out.push_str(", \"$scope\": ");
            put_document(out, &code.scope);
            out.push('}');
        }
        Bson::Symbol(text) => put_tagged(out, "$symbol", text),
        Bson::MinKey => out.push_str("{\"$minKey\": 1}"),
        Bson::MaxKey => out.push_str("{\"$maxKey\": 1}"),
        Bson::DbPointer(_) => out.push_str("\"a DBPointer\""),
    }
}

fn double(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .chain(&[0; 2])
            .take(3)
            .fold(0_usize, |group, byte| group << 8 | usize::from(*byte));
        for place in 0..4 {
            let digit = (group >> (18 - 6 * place)) & 63;
            out.push(if place <= chunk.len() {
                char::from(DIGITS[digit])
            } else {
                '='
            });
        }
    }
    out
}
