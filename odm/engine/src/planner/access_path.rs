//! Access paths that are not ranges of keys: predicates that only a special kind of index can answer.
//!
//! Each kind has a variant here, an arm in [`plan`] that finds its predicate and its index (or returns an error), an
//! arm in `explain`, and one in `cursor::exec::stage`, which runs it.

pub(crate) mod text;

use crate::index::Index;
use crate::index::geo::Grid;
use crate::planner::geo::{self, NearPlan};
use crate::planner::plan::Node;
use crate::planner::requirements::Requirements;

use odm_language::error::ServerError;
use text::TextScan;

/// A search in such an index, which returns a list of records.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AccessPath {
    /// Documents near a point, nearest first.
    Near(Box<NearPlan>),
    Text(TextScan),
}

impl AccessPath {
    /// The name of the stage in `explain`, if it is a single stage.
    pub(crate) fn stage(&self) -> &'static str {
        match self {
            Self::Near(plan) => match plan.grid {
                Grid::Sphere => "GEO_NEAR_2DSPHERE",
                Grid::Plane(_) => "GEO_NEAR_2D",
            },
            Self::Text(_) => "TEXT_MATCH",
        }
    }

    /// The name in `planSummary`, which is that of the stage that reads the index.
    pub(crate) fn summary(&self) -> &'static str {
        match self {
            Self::Near(_) => self.stage(),
            Self::Text(_) => "IXSCAN",
        }
    }

    /// The name of the index.
    pub(crate) fn index(&self) -> &str {
        match self {
            Self::Near(plan) => &plan.scan.name,
            Self::Text(scan) => &scan.name,
        }
    }

    /// Whether the records come with their documents.
    pub(crate) fn fetches(&self) -> bool {
        match self {
            Self::Near(plan) => plan.alone,
            Self::Text(_) => false,
        }
    }
}

/// Plans a filter that only a special index can answer; `None` for all other filters.
pub(super) fn plan(
    indexes: &[Index],
    requirements: &Requirements<'_>,
) -> Result<Option<Node>, ServerError> {
    match geo::near(indexes, requirements)? {
        Some(node) => Ok(Some(node)),
        None => text::plan(indexes, requirements),
    }
}
