//! The cases, one file for each feature.

mod collections;
mod filters;
mod indexes;
mod sync;
mod transactions;
mod updates;
mod values;
mod validation;

use crate::case::Case;

/// Every case, in the order of the files.
pub(crate) fn cases() -> Vec<Case> {
    [
        collections::CASES,
        filters::CASES,
        indexes::CASES,
        sync::CASES,
        transactions::CASES,
        updates::CASES,
        values::CASES,
        validation::CASES,
    ]
    .concat()
}
