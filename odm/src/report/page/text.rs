//! Sentences, and documents as text of the shell.

use bson::{Bson, Document};

use crate::markup::Markup;
use crate::plan::shell;

/// The most characters of a document on one line.
const LINE: usize = 76;

/// Writes a sentence in which names stand between backquotes.
pub(super) fn prose(markup: &mut Markup, sentence: &str) {
    // Text with a single backquote, such as a stored value, has no pairs.
    if sentence.matches('`').count() % 2 == 1 {
        markup.text(sentence);
        return;
    }
    for (number, part) in sentence.split('`').enumerate() {
        if number % 2 == 1 {
            markup.element("code").text(part);
        } else {
            markup.text(part);
        }
    }
}

/// A command as a call of the shell.
pub(super) fn command(command: &Document) -> String {
    format!("db.runCommand({})", document(command))
}

/// A document as a user of the shell would type it, on several lines if it is long.
pub(super) fn document(document: &Document) -> String {
    let mut text = String::new();
    push(&Bson::Document(document.clone()), 0, &mut text);
    text
}

fn push(value: &Bson, depth: usize, text: &mut String) {
    let line = shell::value(value);
    let is_short = line.chars().count() + 2 * depth <= LINE;
    match value {
        Bson::Document(document) if !is_short => {
            text.push_str("{\n");
            for (key, value) in document {
                indent(depth + 1, text);
                text.push_str(&shell::key(key));
                text.push_str(": ");
                push(value, depth + 1, text);
                text.push_str(",\n");
            }
            indent(depth, text);
            text.push('}');
        }
        Bson::Array(elements) if !is_short => {
            text.push_str("[\n");
            for element in elements {
                indent(depth + 1, text);
                push(element, depth + 1, text);
                text.push_str(",\n");
            }
            indent(depth, text);
            text.push(']');
        }
        _ => text.push_str(&line),
    }
}

fn indent(depth: usize, text: &mut String) {
    for _ in 0..depth {
        text.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn long_documents_have_several_lines() {
        assert_eq!(command(&doc! {"ping": 1}), "db.runCommand({ping: 1})");
        let names: Vec<_> = (0..4)
            .map(|number| format!("{number} {}", "x".repeat(20)))
            .collect();
        let long = document(&doc! {"a.b": names, "c": 1});
        assert!(long.starts_with("{\n  \"a.b\": [\n    \"0 xxx"), "{long}");
        assert!(long.ends_with("\",\n  ],\n  c: 1,\n}"), "{long}");
    }

    #[test]
    fn names_in_backquotes_are_code() {
        let mut markup = Markup::default();
        prose(&mut markup, "`a<b` is 1");
        prose(&mut markup, " `");
        assert_eq!(markup.into_string(), "<code>a&lt;b</code> is 1 `");
    }
}
