//! Whether a change at a path may change an index's keys, judged from path names alone, as mongod does.

use bson::{Bson, Document};
use odm_language::value::path::is_number;

use crate::index::spec::Spec;

impl Spec {
    /// Whether the index reads something at the path, above it or below it. Array positions in paths are ignored.
    pub(crate) fn may_cover(&self, path: &str) -> bool {
        let path = without_numbers(path);
        let partial = self.document.get_document("partialFilterExpression");
        self.reads(&path) || partial.is_ok_and(|filter| asks_for(filter, &path))
    }

    fn reads(&self, path: &str) -> bool {
        if let Some(wildcard) = &self.wildcard {
            return wildcard.may_hold(path);
        }
        let weights = self.document.get_document("weights");
        let weights = weights.into_iter().flat_map(Document::keys);
        let is_read = |field: &String| field == "$**" || overlap(&without_numbers(field), path);
        let speaks = self
            .document
            .get_str("language_override")
            .is_ok_and(|language| path.split('.').any(|part| part == language));
        self.key.keys().chain(weights).any(is_read) || speaks
    }
}

/// Whether a filter has a condition on a value at, above or below the path.
fn asks_for(filter: &Document, path: &str) -> bool {
    filter.iter().any(|(field, value)| match value {
        Bson::Array(clauses) if field.starts_with('$') => clauses
            .iter()
            .filter_map(Bson::as_document)
            .any(|clause| asks_for(clause, path)),
        _ => overlap(&without_numbers(field), path),
    })
}

/// Whether the paths are equal or one is a prefix of the other.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    long.strip_prefix(short)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Removes the numeric parts of a path, except for its first part.
fn without_numbers(path: &str) -> String {
    let parts = path.split('.').enumerate();
    let kept = parts.filter(|(at, part)| *at == 0 || !is_number(part));
    kept.map(|(_, part)| part).collect::<Vec<_>>().join(".")
}
