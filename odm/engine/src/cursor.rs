//! Queries over a snapshot: plan, filter, sort, skip, limit; and the cursors that keep what is left of a result.
//!
//! What this module is not: it changes nothing, and knows no commands.

pub(crate) mod exec;
pub(crate) mod open;
pub(crate) mod point;
pub(crate) mod query;
pub(crate) mod sort;
pub(crate) mod stream;
pub(crate) mod tally;
pub(crate) mod trial;
