//! Queries over a snapshot: plan, filter, sort, skip, limit; and the cursors that keep the rest of a result.
//!
//! This module changes no data and does not depend on commands.

pub(crate) mod exec;
pub(crate) mod point;
pub(crate) mod query;
pub(crate) mod registry;
pub(crate) mod shuffled;
pub(crate) mod sort;
pub(crate) mod stream;
pub(crate) mod tally;
pub(crate) mod trial;
