//! Access paths that are no ranges of keys: a predicate that only an index of its own kind can answer.
//!
//! A kind has a variant here, an arm in [`plan`] that finds its predicate and its index (or refuses), an arm in
//! [`Special::stage`] for `explain`, and one in `catalog::special`, which runs it.

use crate::engine::index::Index;
use crate::engine::planner::Wanted;
use crate::engine::planner::tree::Node;
use crate::error::ServerError;

/// What such an index is asked for. Its answer is a list of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Special {}

impl Special {
    /// The name of its stage in `explain`.
    pub(crate) fn stage(&self) -> &'static str {
        match *self {}
    }
}

/// The plan of a filter that cannot be answered in any other way; `None` for all other filters.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a kind refuses a filter that lacks its index"
)]
pub(super) fn plan(_indexes: &[Index], _wanted: &Wanted<'_>) -> Result<Option<Node>, ServerError> {
    Ok(None)
}
