//! What a query requires of its plan.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::matcher::Predicate;
use odm_language::value::collation::Collator;
use odm_language::value::key::Direction;
use odm_language::value::path::Path;

/// The paths and directions of a sort.
pub(crate) type Sort<'a> = (&'a [Path], &'a [Direction]);

/// The requirements of a query on its plan.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Requirements<'a> {
    pub(crate) filter: Option<&'a Predicate>,
    pub(crate) sort: Option<Sort<'a>>,
    /// `$natural`: true means backwards.
    pub(crate) natural: Option<bool>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) collation: Option<&'a Collator>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) min: Option<&'a RawDocument>,
    pub(crate) max: Option<&'a RawDocument>,
    /// The paths that the results are built from, if paths are enough to build them; empty for a count.
    pub(crate) made_of: Option<&'a [Path]>,
    /// Whether there is a projection.
    pub(crate) projects: bool,
    /// Whether a part of the matching documents is enough.
    pub(crate) distinct: Option<Distinct<'a>>,
    /// Whether only the number of results matters.
    pub(crate) counts: bool,
    /// Whether the query needs the scores of a `$text`.
    pub(crate) scored: bool,
}

impl Requirements<'_> {
    /// Whether nothing of the results matters but their number.
    pub(super) fn only_counts(&self) -> bool {
        let is_whole = self.sort.is_none() && self.skip == 0 && self.limit.is_none();
        self.counts || is_whole && self.made_of.is_some_and(<[_]>::is_empty)
    }
}

/// What a query needs of the documents that have the same value at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Distinct<'a> {
    /// The value. It comes from an index key, so that a missing one is null.
    Value(&'a Path),
    /// The first document in the order of the sort.
    First(&'a Path),
}

impl<'a> Distinct<'a> {
    pub(super) fn path(self) -> &'a Path {
        match self {
            Self::Value(path) | Self::First(path) => path,
        }
    }
}
