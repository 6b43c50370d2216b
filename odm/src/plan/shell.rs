//! Documents in plans and messages, as a shell user would type them.

use bson::{Bson, Document};

/// `{title: 1, "a.b": -1}`
pub(crate) fn document(document: &Document) -> String {
    let fields = document
        .iter()
        .map(|(name, item)| format!("{}: {}", key(name), value(item)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

/// The name of a field, between quotation marks if it needs them.
pub(crate) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_alphanumeric() || "_$".contains(c);
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

pub(crate) fn value(item: &Bson) -> String {
    match item {
        Bson::Document(inner) => document(inner),
        Bson::Array(items) => {
            let items: Vec<_> = items.iter().map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Bson::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}
