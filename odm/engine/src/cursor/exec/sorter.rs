//! Sorts the rows of a step: all of them, or the first few.
//!
//! With a limit, each candidate's key is built in one buffer and compared with the last row kept: most candidates need
//! no allocation.

use std::collections::BinaryHeap;
use std::sync::Arc;

use odm_language::error::ServerError;
use odm_language::value::key::Head;

use crate::catalog::collection::document;
use crate::cursor::exec::{Bytes, Lent, Shared};
use crate::index::RecordId;

/// A record that is kept for later. Stored documents are looked up again by record id.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SavedRow {
    record: RecordId,
    bytes: SavedBytes,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SavedBytes {
    None,
    Stored,
    Made(Arc<[u8]>),
}

impl SavedRow {
    pub(super) fn of((record, bytes): Lent<'_>) -> Self {
        let bytes = match bytes {
            Bytes::None => SavedBytes::None,
            Bytes::Stored(_) => SavedBytes::Stored,
            Bytes::Made(made) => SavedBytes::Made(Arc::clone(made)),
        };
        Self { record, bytes }
    }

    pub(super) fn lend<'a>(&'a self, shared: &'a Shared) -> Lent<'a> {
        let bytes = match &self.bytes {
            SavedBytes::None => Bytes::None,
            SavedBytes::Stored => shared
                .collection
                .stored(self.record)
                .map_or(Bytes::None, Bytes::Stored),
            SavedBytes::Made(made) => Bytes::Made(made),
        };
        (self.record, bytes)
    }
}

/// A kept record with its key and its number: among equal keys, the earlier record is less.
type Keyed = (Vec<u8>, u64, SavedRow);

#[derive(Debug)]
pub(super) struct Sorter {
    limit: Option<usize>,
    /// With a limit: the first rows so far, with the last of them on top.
    first: BinaryHeap<Keyed>,
    /// Without a limit: all rows.
    all: Vec<Keyed>,
    count: u64,
    /// The key of the candidate.
    key: Vec<u8>,
    /// The head of the last kept row's key, once the limit is reached.
    bar: Option<Head>,
    sorted: Option<std::vec::IntoIter<Keyed>>,
    shown: Option<SavedRow>,
    /// Whether it has reported the end.
    done: bool,
}

impl Sorter {
    pub(super) fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            first: BinaryHeap::new(),
            all: Vec::new(),
            count: 0,
            key: Vec::new(),
            bar: None,
            sorted: None,
            shown: None,
            done: false,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.done
    }

    pub(super) fn is_sorted(&self) -> bool {
        self.sorted.is_some()
    }

    pub(super) fn add(&mut self, row: Lent<'_>, shared: &Shared) -> Result<(), ServerError> {
        self.count += 1;
        if let (Some(bar), Some(sort), Some(bytes)) = (self.bar, &shared.sort, row.1.get())
            && sort.is_behind(bytes, shared.collation.is_some(), bar)
        {
            return Ok(());
        }
        self.key.clear();
        key_into(row, shared, &mut self.key)?;
        let Some(limit) = self.limit else {
            self.all
                .push((self.key.clone(), self.count, SavedRow::of(row)));
            return Ok(());
        };
        if self.first.len() < limit {
            self.first
                .push((self.key.clone(), self.count, SavedRow::of(row)));
        } else if let Some(mut last) = self.first.peek_mut()
            && self.key < last.0
        {
            last.0.clone_from(&self.key);
            last.1 = self.count;
            last.2 = SavedRow::of(row);
        } else {
            return Ok(());
        }
        if self.first.len() >= limit {
            self.bar = self.first.peek().and_then(|last| Head::at(&last.0));
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) {
        let sorted = if self.limit.is_some() {
            std::mem::take(&mut self.first).into_sorted_vec()
        } else {
            let mut all = std::mem::take(&mut self.all);
            all.sort_unstable();
            all
        };
        self.sorted = Some(sorted.into_iter());
    }

    pub(super) fn next<'a>(&'a mut self, shared: &'a Shared) -> Option<Lent<'a>> {
        let next = self.sorted.as_mut().and_then(Iterator::next);
        self.done = next.is_none();
        let (.., kept) = next?;
        Some(self.shown.insert(kept).lend(shared))
    }
}

/// Appends a record's sort key.
pub(super) fn key_into(
    (record, bytes): Lent<'_>,
    shared: &Shared,
    key: &mut Vec<u8>,
) -> Result<(), ServerError> {
    let known = bytes.get();
    let bytes = known.or_else(|| shared.collection.get(record));
    match (&shared.sort, bytes.and_then(document)) {
        (Some(sort), Some(document)) => {
            let score = shared.rank(record, known.unwrap_or_default());
            sort.key_into(document, shared.collation.as_ref(), score, key)
        }
        _ => Ok(()),
    }
}
