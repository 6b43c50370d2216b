//! Access paths that are no ranges of keys: a predicate that only an index of its own kind can answer.
//!
//! A kind has a variant here, an arm in [`plan`] that finds its predicate and its index (or refuses), an arm in
//! `explain`, and one in `catalog::special`, which runs it.

pub(crate) mod text;

use crate::engine::index::Index;
use crate::engine::planner::Wanted;
use crate::engine::planner::tree::Node;
use crate::error::ServerError;

use text::TextScan;

/// What such an index is asked for. Its answer is a list of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Special {
    Text(TextScan),
}

/// The plan of a filter that cannot be answered in any other way; `None` for all other filters.
pub(super) fn plan(indexes: &[Index], wanted: &Wanted<'_>) -> Result<Option<Node>, ServerError> {
    text::plan(indexes, wanted)
}
