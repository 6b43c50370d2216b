//! Values in Rust source: string literals, `doc!`, and the text of comments.

use bson::{Bson, Document};

use super::number::separated;
use crate::types::json::text;

/// A string literal.
pub(super) fn string(text: &str) -> String {
    format!("{text:?}")
}

/// Text for a comment or for documentation: on one line, and without characters that change the direction of the text, which
/// rustc refuses.
pub(super) fn comment(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '"' | '\'' | '\\') {
            line.push(character);
        } else {
            line.extend(character.escape_debug());
        }
    }
    line.trim_end().to_owned()
}

/// A name in documentation, in the font of code.
pub(super) fn code(name: &str) -> String {
    let name = comment(name).replace('`', "\\u{60}");
    if name.trim().is_empty() {
        return format!("`{name:?}`");
    }
    format!("`{name}`")
}

/// A document as relaxed Extended JSON, for comments.
pub(super) fn json(document: &Document) -> String {
    comment(&text::to_relaxed_text(document))
}

/// A document as a call of `doc!`, if each of its values has a literal.
pub(super) fn doc(document: &Document) -> Option<String> {
    Some(format!("doc! {}", braces(document)?))
}

fn braces(document: &Document) -> Option<String> {
    if document.is_empty() {
        return Some("{}".to_owned());
    }
    let fields = document.iter().map(|(name, value)| {
        let value = self::value(value)?;
        Some(format!("{}: {value}", string(name)))
    });
    let fields: Vec<String> = fields.collect::<Option<_>>()?;
    Some(format!("{{ {} }}", fields.join(", ")))
}

fn value(value: &Bson) -> Option<String> {
    Some(match value {
        Bson::Double(number) => double(*number)?,
        Bson::String(text) => string(text),
        Bson::Document(document) => braces(document)?,
        Bson::Array(values) => {
            let values: Vec<String> = values.iter().map(self::value).collect::<Option<_>>()?;
            format!("[{}]", values.join(", "))
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::Int32(number) => separated(i64::from(*number)),
        Bson::Int64(number) => format!("{}_i64", separated(*number)),
        Bson::DateTime(date) => {
            format!(
                "DateTime::from_millis({})",
                separated(date.timestamp_millis())
            )
        }
        _ => return None,
    })
}

/// A finite double with a fraction or an exponent, so that Rust reads it as one.
pub(super) fn double(number: f64) -> Option<String> {
    number.is_finite().then(|| format!("{number:?}"))
}

#[cfg(test)]
mod tests {
    use bson::{doc, oid::ObjectId};

    use super::*;

    #[test]
    fn documents_are_calls_of_doc() {
        let document = doc! {"a": {"$gt": 1_000}, "b": [1_i64, 2.0, "x\"", null, true], "c": {}};
        assert_eq!(
            doc(&document).unwrap(),
            r#"doc! { "a": { "$gt": 1_000 }, "b": [1_i64, 2.0, "x\"", null, true], "c": {} }"#
        );
        assert_eq!(doc(&doc! {"a": ObjectId::new()}), None);
        assert_eq!(doc(&doc! {"a": f64::NAN}), None);
    }

    #[test]
    fn comments_are_on_one_line() {
        assert_eq!(comment("a\nb\u{202e}c\"d "), "a\\nb\\u{202e}c\"d");
        assert_eq!(code("a b"), "`a b`");
        assert_eq!(code("a`b"), "`a\\u{60}b`");
        assert_eq!(code(""), "`\"\"`");
    }
}
