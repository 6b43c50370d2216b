//! Declared indexes.

use super::name::same_path;
use super::rule::FilterFn;

/// One declared index.
///
/// Keys name Rust fields; [`super::name`] turns them into stored paths.
#[derive(Debug)]
pub struct IndexMeta {
    /// The declared name. An index without one gets MongoDB's default name, such as `host_1_time_-1`.
    pub name: Option<&'static str>,
    /// The keys, in order.
    pub keys: &'static [KeyMeta],
    /// Refuses a second document with the same key.
    pub unique: bool,
    /// Leaves out documents that have none of the keys.
    pub sparse: bool,
    /// Hides the index from the query planner; writes still keep it up to date.
    pub hidden: bool,
    /// Indexes only documents that match this filter.
    pub partial: Option<FilterFn>,
    /// Removes documents this many seconds after the date in the key.
    pub expire_after_seconds: Option<u32>,
    /// How strings are compared.
    pub collation: Option<CollationMeta>,
    /// The language of a text index.
    pub default_language: Option<&'static str>,
    /// The field that overrides the language of a document.
    pub language_override: Option<&'static str>,
    /// The stored name of the variant whose documents the index has, if it is on a field of a variant.
    pub variant: Option<&'static str>,
    /// The fields that a wildcard index over the whole document includes or leaves out.
    pub wildcard_projection: &'static [(&'static [&'static str], bool)],
}

impl IndexMeta {
    /// Whether the index finds documents by equality of the field with these Rust names.
    ///
    /// The field is its first key, of a kind that serves equality; and the index covers all documents, has no collation of
    /// its own, and is not hidden.
    pub const fn serves_equality(&self, path: &[&str]) -> bool {
        self.finds_values(path) && !self.sparse
    }

    /// Like [`serves_equality`](Self::serves_equality), and may leave out documents without the field.
    const fn finds_values(&self, path: &[&str]) -> bool {
        let [first, ..] = self.keys else {
            return false;
        };
        matches!(
            first.kind,
            KeyKind::Ascending | KeyKind::Descending | KeyKind::Hashed
        ) && same_path(first.path, path)
            && !self.hidden
            && self.partial.is_none()
            && self.variant.is_none()
            && self.collation.is_none()
    }
}

impl IndexMeta {
    /// Whether the index refuses a second document with the same value of the field with these Rust names, and finds the
    /// one that has it.
    ///
    /// A sparse index does: it leaves out documents without a value, and MongoDB uses it for equality with any value but
    /// null.
    pub(crate) const fn is_unique_on(&self, path: &[&str]) -> bool {
        self.unique && self.keys.len() == 1 && self.finds_values(path)
    }
}

/// One key of an index.
#[derive(Debug, Clone, Copy)]
pub struct KeyMeta {
    /// The Rust fields from the struct down; empty for a wildcard over the whole document.
    pub path: &'static [&'static str],
    /// Direction or kind.
    pub kind: KeyKind,
}

/// The direction or kind of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// `1`
    Ascending,
    /// `-1`
    Descending,
    /// `"hashed"`
    Hashed,
    /// `"text"`, with a weight.
    Text {
        /// From 1 to 99,999; the default is 1.
        weight: u32,
    },
    /// `"2dsphere"`
    Sphere,
    /// `path.$**: 1`
    Wildcard,
}

/// A declared collation. For an option that is `None`, MongoDB uses the default of the locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollationMeta {
    /// An ICU locale, such as `en` or `fr_CA`; or `simple`.
    pub locale: &'static str,
    /// From 1 (base letters) to 5 (identical); the default is 3.
    pub strength: Option<u32>,
    /// Whether strengths 1 and 2 compare case, too.
    pub case_level: Option<bool>,
    /// `upper`, `lower` or `off`.
    pub case_first: Option<&'static str>,
    /// Whether digits are compared as numbers, so that "10" sorts after "2".
    pub numeric_ordering: Option<bool>,
    /// `non-ignorable` or `shifted`.
    pub alternate: Option<&'static str>,
    /// `punct` or `space`.
    pub max_variable: Option<&'static str>,
    /// Whether accents are compared from the end of the string.
    pub backwards: Option<bool>,
    /// Whether text is normalized before it is compared.
    pub normalization: Option<bool>,
}
