//! [`Materialized`]: the path from the root.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::tree::SEPARATOR;
use crate::model::{BsonType, Document, TypeMeta};
use crate::query::scalars::field_type;

/// The ids of a node's ancestors in one string, the root first: `,Books,Programming,`; or `null` at a root.
///
/// The operations of a tree write the field. A document to insert has `Materialized::default()`. A tree keeps a path only if
/// the id of the model is a [`PathId`](crate::tree::PathId).
pub struct Materialized<T: Document> {
    path: Option<String>,
    of: PhantomData<fn() -> T>,
}

impl<T: Document> Materialized<T> {
    fn new(path: Option<String>) -> Self {
        Self {
            path,
            of: PhantomData,
        }
    }

    /// The stored path; `None` at a root.
    pub fn as_str(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The number of ancestors: 0 at a root.
    pub fn depth(&self) -> usize {
        let separators = |path: &str| path.matches(SEPARATOR).count();
        self.as_str()
            .map_or(0, |path| separators(path).saturating_sub(1))
    }
}

impl<T: Document> Default for Materialized<T> {
    /// The path of a root.
    fn default() -> Self {
        Self::new(None)
    }
}

impl<T: Document> Clone for Materialized<T> {
    fn clone(&self) -> Self {
        Self::new(self.path.clone())
    }
}

impl<T: Document> PartialEq for Materialized<T> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl<T: Document> Eq for Materialized<T> {}

impl<T: Document> fmt::Debug for Materialized<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Materialized").field(&self.path).finish()
    }
}

impl<T: Document> Serialize for Materialized<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.path.serialize(serializer)
    }
}

impl<'de, T: Document> Deserialize<'de> for Materialized<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::new)
    }
}

field_type!(
    [T: Document] Materialized<T>,
    TypeMeta::scalar(&[BsonType::String]).nullable()
);
