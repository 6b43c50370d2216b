//! What documents must match.

use std::borrow::Cow;

use bson::{Bson, Document};

/// A filter on its way to a store. Most say one thing of one field: of these no document is made that a store does not
/// need.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// `{path: value}`
    One(Cow<'static, str>, Bson),
    Document(Document),
}

impl Condition {
    /// Whether it says nothing, so that every document matches.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Document(document) if document.is_empty())
    }

    /// As the shell would print it.
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
