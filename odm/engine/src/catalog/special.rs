//! Runs what `planner::special` chose: asks an index of its own kind for records.

use std::collections::{HashMap, HashSet};
use std::ops::Bound;

use odm_language::value::key::Direction;

use crate::catalog::collection::Collection;
use crate::index::{self, RecordId, text};
use crate::planner::special::text::TextScan;

/// The records in the order of the answer, and how many keys were looked at.
pub(crate) fn text_records(collection: &Collection, scan: &TextScan) -> (Vec<RecordId>, u64) {
    let mut seen = HashSet::new();
    let mut records = Vec::new();
    let mut keys = 0;
    each_posting(collection, scan, |record, _| {
        keys += 1;
        if seen.insert(record) {
            records.push(record);
        }
    });
    (records, keys)
}

/// The score of each record that has one of the terms.
pub(crate) fn text_scores(collection: &Collection, scan: &TextScan) -> HashMap<RecordId, f64> {
    let mut scores: HashMap<RecordId, f64> = HashMap::new();
    each_posting(collection, scan, |record, score| {
        *scores.entry(record).or_default() += score;
    });
    scores
}

/// Term by term, the best score first.
fn each_posting(collection: &Collection, scan: &TextScan, mut found: impl FnMut(RecordId, f64)) {
    let Some(index) = collection.index(&scan.name) else {
        return;
    };
    for term in &scan.terms {
        let mut low = scan.prefix.clone();
        text::append_term(&mut low, term);
        // No score has so many bits set.
        let mut high = low.clone();
        high.extend([0xff; 8]);
        let entries = index.range(
            Bound::Included(&low),
            Bound::Excluded(&high),
            Direction::Descending,
            usize::MAX,
        );
        for entry in entries {
            if let Some(score) = entry.get(low.len()..).and_then(text::score) {
                found(index::record_of(&entry), score);
            }
        }
    }
}
