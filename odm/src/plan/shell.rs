//! Documents in plans and messages, as a shell user would type them.

use bson::{Bson, Document};

/// `{title: 1, "a.b": -1}`
pub(crate) fn document(document: &Document) -> String {
    let fields = document.iter().map(|(key, item)| {
        let bare = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
        if bare {
            format!("{key}: {}", value(item))
        } else {
            format!("{key:?}: {}", value(item))
        }
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
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
