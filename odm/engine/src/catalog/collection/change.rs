//! The index changes of writing one document.

use bson::raw::RawDocument;
use odm_language::error::ServerError;
use smallvec::SmallVec;

use crate::index::multikey::Arrays;
use crate::index::tree::TreePath;
use crate::index::{Index, Keys, LocatedEntry, RecordId, key_of};

/// The removed and added index entries. Most documents have few, so one buffer holds them all.
#[derive(Debug, Default)]
pub(crate) struct EntryChanges {
    pub(crate) record: RecordId,
    /// The path to the record in the tree, if known.
    pub(crate) at: Option<TreePath>,
    /// The path to the removed entry in the first index, if known.
    pub(super) first_at: Option<TreePath>,
    bytes: Vec<u8>,
    /// Ordered by index, and for each index the removed entries before the added ones.
    places: SmallVec<[Place; 2]>,
    /// The arrays that make each index multikey, by index position.
    arrays: Vec<(usize, Arrays)>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    /// The position of the index.
    at: u32,
    comes: bool,
    /// Where the entry ends in the buffer.
    end: u32,
}

/// A collection has at most 64 indexes, and the keys of a document are far below 4 GB.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn large(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// One removed or added entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryChange<'c> {
    /// The position of its index in the collection.
    pub(crate) index: usize,
    pub(crate) comes: bool,
    pub(crate) entry: &'c [u8],
}

impl<'c> EntryChange<'c> {
    pub(crate) fn key(self) -> &'c [u8] {
        key_of(self.entry)
    }
}

impl EntryChanges {
    /// The change of a record without index entries.
    pub(crate) fn nothing(record: RecordId) -> Self {
        Self {
            record,
            ..Self::default()
        }
    }

    /// The removal of a record whose entry in the first index is known.
    pub(crate) fn of_first(first: LocatedEntry) -> Self {
        let mut change = Self {
            first_at: Some(first.tree_path),
            bytes: first.entry,
            ..Self::nothing(first.record)
        };
        change.end(0, false);
        change
    }

    /// How many entries are removed and added.
    pub(crate) fn keys(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = EntryChange<'_>> {
        let mut start = 0;
        self.places.iter().map(move |place| {
            let end = large(place.end);
            let entry = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            EntryChange {
                index: large(place.at),
                comes: place.comes,
                entry,
            }
        })
    }

    pub(super) fn arrays(&self) -> &[(usize, Arrays)] {
        &self.arrays
    }

    /// The half that removes entries.
    pub(crate) fn removals(&self) -> Self {
        self.half(false)
    }

    /// The half that adds entries.
    pub(crate) fn additions(&self) -> Self {
        Self {
            arrays: self.arrays.clone(),
            ..self.half(true)
        }
    }

    fn half(&self, comes: bool) -> Self {
        let mut half = Self::nothing(self.record);
        for part in self.parts().filter(|part| part.comes == comes) {
            half.bytes.extend_from_slice(part.entry);
            half.end(part.index, comes);
        }
        half
    }

    /// Adds the changes of the record's keys in one index.
    pub(super) fn add(
        &mut self,
        at: usize,
        index: &Index,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<(), ServerError> {
        let start = self.bytes.len();
        if self.bytes.capacity() == 0 {
            // Most documents have few keys, of one or two values each.
            self.bytes.reserve_exact(64);
        }
        if self.add_plain(at, index, before, after).is_some() {
            return Ok(());
        }
        self.bytes.truncate(start);
        let changed = match (before, after) {
            (Some(before), Some(after)) => index.changed_keys(before, after),
            _ => None,
        };
        let (removed, added, arrays) = if let Some(changed) = changed {
            changed
        } else {
            let mut buffer = Vec::new();
            let mut keys = |document: Option<&RawDocument>| match document {
                Some(document) => index.keys(document, &mut buffer),
                None => Ok((Keys::new(), Arrays::default())),
            };
            // An error here must not be ignored: the stored document's old entries would stay in the index.
            let (removed, _) = keys(before)?;
            let (added, arrays) = keys(after)?;
            (removed, added, arrays)
        };
        // Both are sorted.
        for (these, those, comes) in [(&removed, &added, false), (&added, &removed, true)] {
            for key in these {
                if those.binary_search(key).is_err() {
                    self.bytes.extend_from_slice(key);
                    self.bytes.extend_from_slice(&self.record.to_be_bytes());
                    self.end(at, comes);
                }
            }
        }
        if !arrays.is_empty() {
            self.arrays.push((at, arrays));
        }
        Ok(())
    }

    /// [`add`](Self::add) for documents with at most one key each. `None` if that does not apply; the buffer may then
    /// have extra bytes.
    fn add_plain(
        &mut self,
        at: usize,
        index: &Index,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Option<()> {
        let mut add = |document: Option<&RawDocument>| {
            let held = match document {
                Some(document) => index.append_plain_key(document, &mut self.bytes)?,
                None => false,
            };
            if held {
                self.bytes.extend_from_slice(&self.record.to_be_bytes());
            }
            Some((held, self.bytes.len()))
        };
        let start = self.places.last().map_or(0, |place| large(place.end));
        let (goes, middle) = add(before)?;
        let (comes, end) = add(after)?;
        if goes && comes && self.bytes.get(start..middle) == self.bytes.get(middle..end) {
            self.bytes.truncate(start);
            return Some(());
        }
        for (is, comes, end) in [(goes, false, middle), (comes, true, end)] {
            if is {
                self.end_at(at, comes, end);
            }
        }
        Some(())
    }

    /// Ends an entry after the last byte of the buffer.
    fn end(&mut self, index: usize, comes: bool) {
        self.end_at(index, comes, self.bytes.len());
    }

    fn end_at(&mut self, index: usize, comes: bool, end: usize) {
        self.places.push(Place {
            at: small(index),
            comes,
            end: small(end),
        });
    }
}
