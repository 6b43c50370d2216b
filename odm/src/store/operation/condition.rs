//! Filters.

use std::borrow::Cow;

use bson::{Bson, Document, doc};

/// A filter on its way to a store. Most filters test one field; those build no document unless the store needs one.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// `{path: value}`
    One(Cow<'static, str>, Bson),
    Document(Document),
}

impl Condition {
    /// Whether the filter is empty, so that every document matches.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Document(document) if document.is_empty())
    }

    /// Adds a condition, which the documents must meet as well.
    pub(crate) fn join(&mut self, other: Document) {
        let own = std::mem::replace(self, Self::Document(Document::new())).into_document();
        *self = Self::Document(match (own.is_empty(), other.is_empty()) {
            (true, _) => other,
            (false, true) => own,
            (false, false) => doc! {"$and": [own, other]},
        });
    }

    /// The filter as a document.
    pub(crate) fn into_document(self) -> Document {
        match self {
            Self::One(path, value) => one(path, value),
            Self::Document(document) => document,
        }
    }
}

impl From<Document> for Condition {
    fn from(document: Document) -> Self {
        Self::Document(document)
    }
}

/// `{key: value}`
pub(super) fn one(key: impl Into<String>, value: Bson) -> Document {
    let mut document = Document::new();
    document.insert(key, value);
    document
}
