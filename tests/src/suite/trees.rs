//! Trees: every operation, for each pattern.

mod concurrent;
mod models;
mod plain;
mod random;

use crate::case::Case;

/// The cases of all files.
pub(super) fn cases() -> Vec<Case> {
    [concurrent::CASES, random::CASES].concat()
}
