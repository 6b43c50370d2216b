//! Trees: every operation, for each pattern.

mod categories;
mod concurrent;
mod damage;
mod models;
mod options;
mod plain;
mod random;

use crate::case::Case;

/// The cases of all files.
pub(super) fn cases() -> Vec<Case> {
    [
        categories::CASES,
        concurrent::CASES,
        damage::CASES,
        options::CASES,
        random::CASES,
    ]
    .concat()
}
