//! Trees: every operation, for each pattern.

mod categories;
mod changes;
mod commands;
mod concurrent;
mod convert;
mod damage;
mod declared;
mod faults;
mod foreign;
mod foreign_nodes;
mod load;
mod models;
mod names;
mod namesakes;
mod operations;
mod options;
mod plain;
mod random;
mod readers;
mod reads;
mod stops;
mod unseen;

use crate::case::Case;

/// The cases of all files.
pub(super) fn cases() -> Vec<Case> {
    [
        categories::CASES,
        changes::CASES,
        commands::CASES,
        concurrent::CASES,
        convert::CASES,
        damage::CASES,
        faults::CASES,
        foreign_nodes::CASES,
        foreign::CASES,
        load::CASES,
        names::CASES,
        namesakes::CASES,
        options::CASES,
        random::CASES,
        readers::CASES,
        reads::CASES,
        stops::CASES,
        unseen::CASES,
    ]
    .concat()
}
