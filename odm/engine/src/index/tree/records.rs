//! A leaf of records: ids and documents, packed one after the other.
//!
//! A walk over records reads bytes in the order in which they lie in memory, and copying a leaf copies only two
//! buffers.

use std::cmp::Ordering;
use std::hint::black_box;
use std::ops::Deref;
use std::sync::Arc;

use crate::index::RecordId;
use crate::index::tree::packed::{Moved, Packed};
use crate::index::tree::{Leaf, LeafRef, Place, count_before, split_off};

/// The most records of a leaf.
const MAX_RECORDS: usize = 64;

/// The most bytes of a leaf with more than one record. A write copies them if a reader holds the leaf.
const MAX_BYTES: usize = 4 * 1024;

/// The size of a cache line on common processors.
const LINE: usize = 64;

/// The number of the write that last changed a record.
pub(crate) type Stamp = u64;

#[derive(Debug, Clone, Copy)]
struct Slot {
    record: RecordId,
    stamp: Stamp,
    /// The end of the document. A document has at most 16 MB, so a leaf stays below 4 GB.
    end: u32,
}

/// Records in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct Records {
    slots: Vec<Slot>,
    bytes: Packed,
}

impl Clone for Records {
    fn clone(&self) -> Self {
        let mut copy = Self {
            slots: self.slots.clone(),
            bytes: self.bytes.with_room(0),
        };
        copy.shift_all(self.bytes.begin());
        copy
    }
}

impl Records {
    #[inline]
    fn begin_of(&self, at: usize) -> usize {
        let before = at.checked_sub(1).and_then(|before| self.slots.get(before));
        before.map_or(self.bytes.begin(), |slot| offset(slot.end))
    }

    #[inline]
    fn end_of(&self, at: usize) -> usize {
        let slot = self.slots.get(at);
        slot.map_or(self.bytes.end(), |slot| offset(slot.end))
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<(RecordId, &[u8])> {
        let slot = self.slots.get(at)?;
        let bytes = self.bytes.get(self.begin_of(at), offset(slot.end))?;
        Some((slot.record, bytes))
    }

    pub(crate) fn stamp(&self, at: usize) -> Option<Stamp> {
        self.slots.get(at).map(|slot| slot.stamp)
    }

    /// Prefetches the positions of the documents, without waiting for the memory.
    pub(crate) fn touch_places(&self) {
        let end = |slot: &Slot| slot.end;
        black_box((self.slots.first().map(end), self.slots.last().map(end)));
    }

    /// Prefetches the first fields of each document.
    pub(crate) fn touch_documents(&self) {
        let touched = |at: usize| self.bytes.byte(at).unwrap_or_default();
        let first = |at: usize| touched(at) ^ touched(at + LINE);
        let others = self.slots.iter().map(|slot| first(offset(slot.end)));
        black_box(others.fold(first(self.bytes.begin()), |all, one| all ^ one));
    }

    /// Inserts or replaces the document of a record. Returns the size of the replaced document.
    pub(crate) fn insert(
        &mut self,
        record: RecordId,
        stamp: Stamp,
        document: &[u8],
    ) -> Option<usize> {
        let found = match self.slots.last() {
            // Most new records belong at the end.
            Some(last) if last.record < record => Err(self.slots.len()),
            _ => self.find(&record),
        };
        match found {
            Ok(at) => Some(self.replace_at(at, stamp, document)),
            Err(at) => {
                let is_end = at == self.slots.len();
                if is_end && self.bytes.room() < document.len() {
                    self.close();
                    // If records arrive in order, the leaf will fill up, so double its capacity; a split releases the
                    // excess.
                    self.bytes.reserve(document.len().max(self.bytes.len()));
                }
                let end = length(self.begin_of(at));
                let slot = Slot { record, stamp, end };
                self.slots.insert(at, slot);
                if is_end {
                    self.bytes.push(document);
                    if let Some(slot) = self.slots.last_mut() {
                        slot.end += length(document.len());
                    }
                } else {
                    self.replace_at(at, stamp, document);
                }
                None
            }
        }
    }

    /// Replaces the document at a position, and returns the size of the old one.
    pub(crate) fn replace_at(&mut self, at: usize, stamp: Stamp, document: &[u8]) -> usize {
        let before = self.resize(at, document.len());
        let start = self.begin_of(at);
        if let Some(place) = self.bytes.get_mut(start, start + document.len()) {
            place.copy_from_slice(document);
        }
        if let Some(slot) = self.slots.get_mut(at) {
            slot.stamp = stamp;
        }
        before
    }

    /// Removes a record, and returns the size of its document.
    pub(crate) fn remove(&mut self, record: RecordId) -> Option<usize> {
        let at = self.find(&record).ok()?;
        Some(self.remove_at(at))
    }

    /// Removes the record at a position, and returns the size of its document.
    pub(crate) fn remove_at(&mut self, at: usize) -> usize {
        let before = self.resize(at, 0);
        if at < self.slots.len() {
            self.slots.remove(at);
        }
        before
    }

    /// Resizes the space of a document, and returns the old size.
    fn resize(&mut self, at: usize, size: usize) -> usize {
        let before = self.end_of(at) - self.begin_of(at);
        if size == before {
            return before;
        }
        if size > before && self.bytes.room() < size - before {
            self.close();
            self.bytes.reserve(size - before);
        }
        let (start, end) = (self.begin_of(at), self.end_of(at));
        match self.bytes.resize(start, end, size) {
            Moved::Before => {
                for slot in self.slots.iter_mut().take(at) {
                    slot.end = slot.end + length(before) - length(size);
                }
            }
            Moved::Behind => {
                for slot in self.slots.iter_mut().skip(at) {
                    slot.end = slot.end + length(size) - length(before);
                }
            }
        }
        before
    }

    /// Removes the free space in front.
    fn close(&mut self) {
        let room = self.bytes.close();
        self.shift_all(room);
    }

    /// Updates the positions after all documents moved towards the start.
    fn shift_all(&mut self, by: usize) {
        if by > 0 {
            for slot in &mut self.slots {
                slot.end -= length(by);
            }
        }
    }
}

fn offset(end: u32) -> usize {
    usize::try_from(end).unwrap_or(usize::MAX)
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Leaf for Records {
    type Key = RecordId;
    type Edge = RecordId;

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn edge(&self) -> Option<RecordId> {
        self.slots.first().map(|slot| slot.record)
    }

    fn compare(edge: &RecordId, key: &RecordId) -> Ordering {
        edge.cmp(key)
    }

    fn find(&self, key: &RecordId) -> Result<usize, usize> {
        let at = count_before(&self.slots, |slot| slot.record < *key);
        if self.is_at(at, key) { Ok(at) } else { Err(at) }
    }

    fn is_at(&self, at: usize, key: &RecordId) -> bool {
        self.slots.get(at).is_some_and(|slot| slot.record == *key)
    }

    fn is_too_large(&self) -> bool {
        self.slots.len() > MAX_RECORDS || self.bytes.len() > MAX_BYTES
    }

    fn is_small(&self) -> bool {
        self.slots.len() < MAX_RECORDS / 2 && self.bytes.len() < MAX_BYTES / 2
    }

    fn fits(&self, other: &Self) -> bool {
        self.slots.len() + other.slots.len() <= MAX_RECORDS / 2
            && self.bytes.len() + other.bytes.len() <= MAX_BYTES / 2
    }

    /// Splits in the middle of the bytes, so that a large document soon has a leaf of its own.
    fn half(&self) -> usize {
        let half = length(self.bytes.begin() + self.bytes.len() / 2);
        let at = self.slots.partition_point(|slot| slot.end <= half);
        at.clamp(1, self.slots.len().saturating_sub(1).max(1))
    }

    fn split(&mut self, at: usize, grows: bool) -> Self {
        self.close();
        let start = self.begin_of(at);
        let bytes = self.bytes.split(start, grows);
        let mut slots = split_off(&mut self.slots, at, grows);
        for slot in &mut slots {
            slot.end -= length(start);
        }
        Self { slots, bytes }
    }

    fn append(&mut self, other: &Self) {
        let (start, room) = (length(self.bytes.end()), length(other.bytes.begin()));
        self.bytes.push(other.bytes.live());
        self.slots.extend(other.slots.iter().map(|slot| Slot {
            end: slot.end - room + start,
            ..*slot
        }));
    }
}

/// A document at its place in a collection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'t> {
    place: Place<'t, Records>,
    pub(crate) record: RecordId,
    pub(crate) bytes: &'t [u8],
}

impl<'t> Stored<'t> {
    /// The document at a place whose leaf is known.
    #[inline]
    pub(crate) fn within(leaf: &'t Records, place: Place<'t, Records>) -> Option<Self> {
        let (record, bytes) = leaf.get(place.at)?;
        Some(Self {
            place,
            record,
            bytes,
        })
    }

    pub(crate) fn at(place: Place<'t, Records>) -> Option<Self> {
        Self::within(place.leaf()?, place)
    }

    pub(crate) fn stamp(self) -> Option<Stamp> {
        self.place.leaf()?.stamp(self.place.at)
    }

    /// Keeps the document; changes of the collection do not affect it.
    pub(crate) fn keep(self) -> Content {
        Content(Kind::Stored(self.place.hold(), self.place.at))
    }
}

/// The bytes of a document that outlives its read: shared with the collection, or owned.
///
/// While a shared document is kept, a write to the same leaf copies the leaf.
#[derive(Debug, Clone)]
pub struct Content(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Stored(LeafRef<Records>, usize),
    Own(Arc<[u8]>),
    None,
}

impl Content {
    /// No bytes at all.
    pub(crate) const NONE: Self = Self(Kind::None);

    pub(crate) fn own(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(Kind::Own(bytes.into()))
    }

    /// Whether it was made, and is not a document of the collection.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self.0, Kind::Own(_))
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Kind::Stored(held, at) => held
                .leaf()
                .and_then(|leaf| leaf.get(*at))
                .map_or(&[], |(_, bytes)| bytes),
            Kind::Own(bytes) => bytes,
            Kind::None => &[],
        }
    }
}
