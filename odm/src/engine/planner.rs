//! Which index, if any, serves a query, and with which bounds.
//!
//! What this module is not: it reads no documents and runs nothing; `catalog::scan` does.

use std::ops::Bound;

/// A range of index keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: Bound<Vec<u8>>,
    pub(crate) high: Bound<Vec<u8>>,
}

/// Where the candidates come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// All records, in the order of their insertion.
    Records { backwards: bool },
    /// The entries of an index in ranges of keys. The ranges are in the order of the walk, and disjoint.
    Index {
        name: String,
        ranges: Vec<Range>,
        backwards: bool,
    },
    /// No document can match.
    Nothing,
}
