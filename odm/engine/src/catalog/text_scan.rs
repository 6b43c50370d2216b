//! Runs the text scans that `planner::special` chose.

use std::collections::{HashMap, HashSet};
use std::ops::Bound;

use odm_language::value::key::Direction;

use crate::catalog::collection::Collection;
use crate::index::{self, RecordId, text};
use crate::planner::access_path::text::TextScan;

/// The matching records in result order, and the number of examined keys.
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

/// The score of each record that contains one of the terms.
pub(crate) fn text_scores(collection: &Collection, scan: &TextScan) -> HashMap<RecordId, f64> {
    let mut scores: HashMap<RecordId, f64> = HashMap::new();
    each_posting(collection, scan, |record, score| {
        *scores.entry(record).or_default() += score;
    });
    scores
}

/// Visits the postings term by term, the best score first.
fn each_posting(collection: &Collection, scan: &TextScan, mut found: impl FnMut(RecordId, f64)) {
    let Some(index) = collection.index(&scan.name) else {
        return;
    };
    for term in &scan.terms {
        let mut low = scan.prefix.clone();
        text::append_term(&mut low, term);
        // Greater than any score.
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
