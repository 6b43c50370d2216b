//! Sorts the rows of a step: all of them, or the first few.
//!
//! With a limit, each candidate's key is built in one buffer and compared with the last row kept: most candidates need
//! no allocation.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use odm_language::error::ServerError;
use odm_language::value::key::Head;

use crate::catalog::collection::document;
use crate::cursor::exec::{Bytes, Lent, Shared};
use crate::index::RecordId;
use crate::index::key_list::KeyList;
use crate::index::tree::records::Content;
use crate::pipeline::memory::{self, Memory};

/// A record that is kept for later, with its document if that was read.
#[derive(Debug)]
pub(super) struct SavedRow {
    record: RecordId,
    bytes: Option<Content>,
}

impl SavedRow {
    pub(super) fn of((record, bytes): Lent<'_>) -> Self {
        let bytes = match bytes {
            Bytes::None => None,
            bytes => Some(bytes.keep()),
        };
        Self { record, bytes }
    }

    pub(super) fn lend(&self) -> Lent<'_> {
        let bytes = self.bytes.as_ref();
        (self.record, bytes.map_or(Bytes::None, Bytes::Kept))
    }
}

/// Rows are ordered by their keys; nothing else tells them apart.
impl Ord for SavedRow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.record.cmp(&other.record)
    }
}

impl PartialOrd for SavedRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SavedRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SavedRow {}

/// What mongod adds to the size of a document and its key.
const KEPT: usize = 16;

/// The memory of a sort that may not use the disk.
#[derive(Debug, Clone)]
pub(crate) struct SortMemory {
    /// The top-level fields that it keeps; `None` for the whole document.
    pub(crate) fields: Option<Arc<[String]>>,
}

impl SortMemory {
    fn size(&self, (record, bytes): Lent<'_>, key: &[u8], shared: &Shared) -> usize {
        let bytes = bytes.get().or_else(|| shared.collection.get(record));
        let document = bytes.and_then(document).map_or(0, |document| {
            memory::size_of(document, self.fields.as_deref())
        });
        KEPT + key.len() + document
    }
}

/// A kept record with its key and its number: among equal keys, the earlier record is less.
type Keyed = (Vec<u8>, u64, SavedRow);

/// The rows in their order.
#[derive(Debug)]
enum Sorted {
    First(std::vec::IntoIter<Keyed>),
    /// The numbers of the rows in `all`.
    All(std::vec::IntoIter<usize>),
}

#[derive(Debug)]
pub(super) struct Sorter {
    limit: Option<usize>,
    /// With a limit: the first rows so far, with the last of them on top.
    first: BinaryHeap<Keyed>,
    /// Without a limit: all rows, and their keys.
    all: Vec<Option<SavedRow>>,
    keys: KeyList,
    count: u64,
    /// The key of the candidate.
    key: Vec<u8>,
    /// The head of the last kept row's key, once the limit is reached.
    bar: Option<Head>,
    sorted: Option<Sorted>,
    shown: Option<SavedRow>,
    /// Whether it has reported the end.
    done: bool,
    memory: Memory,
}

impl Sorter {
    pub(super) fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            first: BinaryHeap::new(),
            all: Vec::new(),
            keys: KeyList::default(),
            count: 0,
            key: Vec::new(),
            bar: None,
            sorted: None,
            shown: None,
            done: false,
            memory: Memory::limited(true),
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
        let size = |row: Lent<'_>, key: &[u8]| {
            let memory = shared.memory.as_ref();
            memory.map_or(0, |memory| memory.size(row, key, shared))
        };
        let Some(limit) = self.limit else {
            self.keys.add(|key| key_into(row, shared, key))?;
            self.memory.add(size(row, self.keys.get(self.all.len())));
            if self.memory.is_exceeded() {
                return Err(memory::sort_needs_disk(false));
            }
            self.all.push(Some(SavedRow::of(row)));
            return Ok(());
        };
        self.key.clear();
        key_into(row, shared, &mut self.key)?;
        let own = size(row, &self.key);
        if self.first.len() < limit {
            self.memory.add(own);
            self.first
                .push((self.key.clone(), self.count, SavedRow::of(row)));
        } else if let Some(mut last) = self.first.peek_mut()
            && self.key < last.0
        {
            self.memory.remove(size(last.2.lend(), &last.0));
            self.memory.add(own);
            last.0.clone_from(&self.key);
            last.1 = self.count;
            last.2 = SavedRow::of(row);
        } else {
            return Ok(());
        }
        if self.memory.is_exceeded() {
            return Err(memory::sort_needs_disk(true));
        }
        if self.first.len() >= limit {
            self.bar = self.first.peek().and_then(|last| Head::at(&last.0));
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) {
        let sorted = if self.limit.is_some() {
            let first = std::mem::take(&mut self.first).into_sorted_vec();
            Sorted::First(first.into_iter())
        } else {
            let keys = std::mem::take(&mut self.keys);
            Sorted::All(keys.sorted(0..keys.len()).into_iter())
        };
        self.sorted = Some(sorted);
    }

    pub(super) fn next(&mut self) -> Option<Lent<'_>> {
        let next = match self.sorted.as_mut()? {
            Sorted::First(rows) => rows.next().map(|(.., row)| row),
            Sorted::All(numbers) => numbers
                .next()
                .and_then(|number| self.all.get_mut(number)?.take()),
        };
        self.done = next.is_none();
        Some(self.shown.insert(next?).lend())
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
