//! A leaf of packed byte strings, one after the other.

use std::cmp::Ordering;

use smallvec::SmallVec;

use crate::index::tree::packed::{Moved, Packed};
use crate::index::tree::{Leaf, split_off};

/// The most entries of a leaf.
const MAX_ENTRIES: usize = 128;

/// The most bytes of a leaf with more than one entry.
const MAX_BYTES: usize = 16 * 1024;

/// Sorted byte strings of at least eight bytes: each ends in a record id.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    bytes: Packed,
    /// The end of each entry.
    ends: Vec<u32>,
}

/// A leaf is copied before a change, usually to grow: the copy has spare capacity, so that the change does not
/// reallocate.
impl Clone for Entries {
    fn clone(&self) -> Self {
        let bytes = self.bytes.with_room(growth(self.bytes.len(), 64));
        let room = length(self.bytes.begin());
        let mut ends = Vec::with_capacity(self.ends.len() + growth(self.ends.len(), 4));
        ends.extend(self.ends.iter().map(|end| end - room));
        Self { bytes, ends }
    }
}

/// The least amount to grow by. Doubling would leave a third of the memory of leaves unused.
fn growth(length: usize, least: usize) -> usize {
    (length / 8).max(least)
}

impl Entries {
    #[inline]
    fn begin_of(&self, at: usize) -> usize {
        match at.checked_sub(1) {
            None => self.bytes.begin(),
            Some(before) => self.end_of(before),
        }
    }

    #[inline]
    fn end_of(&self, at: usize) -> usize {
        self.ends
            .get(at)
            .and_then(|end| usize::try_from(*end).ok())
            .unwrap_or(self.bytes.end())
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&[u8]> {
        let end = usize::try_from(*self.ends.get(at)?).ok()?;
        self.bytes.get(self.begin_of(at), end)
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<&[u8]> {
        self.get(self.ends.len().checked_sub(1)?)
    }

    /// Finds the entry, or the position to insert it at. Most new entries belong at the end.
    fn find_to_insert(&self, entry: &[u8]) -> Result<usize, usize> {
        match self.last() {
            Some(last) if compare(last, entry) == Ordering::Less => Err(self.ends.len()),
            _ => self.find(entry),
        }
    }

    /// Adds an entry unless it exists.
    pub(crate) fn insert(&mut self, entry: &[u8]) {
        let Err(at) = self.find_to_insert(entry) else {
            return;
        };
        // If keys arrive in order, the leaf will fill up, so double its capacity; a split releases the excess.
        let in_order = at == self.ends.len();
        if self.bytes.room() < entry.len() {
            self.close();
            let old = self.bytes.len();
            let more = if in_order { old } else { 0 };
            self.bytes.reserve(more.max(entry.len()));
        }
        let start = self.begin_of(at);
        if self.ends.capacity() == self.ends.len() {
            let count = self.ends.len();
            let more = if in_order { count } else { growth(count, 0) };
            self.ends.reserve_exact(more.max(4));
        }
        let added = length(entry.len());
        if in_order {
            self.bytes.push(entry);
            self.ends.push(length(start) + added);
            return;
        }
        self.ends.insert(at, length(start));
        self.resize(at, entry.len());
        if let Some(place) = self.bytes.get_mut(self.begin_of(at), self.end_of(at)) {
            place.copy_from_slice(entry);
        }
    }

    pub(crate) fn remove(&mut self, entry: &[u8]) {
        // Often the first entry is removed.
        if self.is_at(0, entry) {
            self.remove_at(0);
        } else if let Ok(at) = self.find(entry) {
            self.remove_at(at);
        }
    }

    pub(crate) fn remove_at(&mut self, at: usize) {
        if at < self.ends.len() {
            self.resize(at, 0);
            self.ends.remove(at);
        }
    }

    /// Resizes the space of an entry.
    fn resize(&mut self, at: usize, size: usize) {
        let (start, end) = (self.begin_of(at), self.end_of(at));
        let (before, size_after) = (length(end - start), length(size));
        match self.bytes.resize(start, end, size) {
            Moved::Before => {
                for end in self.ends.get_mut(..at).unwrap_or_default() {
                    *end = *end + before - size_after;
                }
            }
            Moved::Behind => {
                for end in self.ends.get_mut(at..).unwrap_or_default() {
                    *end = *end + size_after - before;
                }
            }
        }
    }

    /// Removes the free space in front.
    fn close(&mut self) {
        let room = length(self.bytes.close());
        if room > 0 {
            for end in &mut self.ends {
                *end -= room;
            }
        }
    }
}

/// The first eight bytes as a number, padded with zeros. If two numbers differ, they order the strings.
#[inline]
fn head(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_be_bytes(first)
}

/// Compares bytes like slices. Most keys differ within the first eight bytes, which compare as one number.
#[inline]
fn compare(one: &[u8], other: &[u8]) -> Ordering {
    head(one).cmp(&head(other)).then_with(|| one.cmp(other))
}

/// The first entry of a leaf.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    head: u64,
    bytes: SmallVec<[u8; 24]>,
}

/// A length as `u32`. Leaves are far below 4 GB, because a document and its keys are at most 16 MB.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Leaf for Entries {
    type Key = [u8];
    type Edge = Edge;

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn edge(&self) -> Option<Self::Edge> {
        self.get(0).map(|first| Edge {
            head: head(first),
            bytes: SmallVec::from_slice(first),
        })
    }

    #[inline]
    fn compare(edge: &Edge, key: &[u8]) -> Ordering {
        edge.head
            .cmp(&head(key))
            .then_with(|| (*edge.bytes).cmp(key))
    }

    fn find(&self, key: &[u8]) -> Result<usize, usize> {
        let first = head(key);
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            let order = self
                .bytes
                .word(self.begin_of(middle))
                .cmp(&first)
                .then_with(|| self.get(middle).unwrap_or_default().cmp(key));
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    fn is_at(&self, at: usize, key: &[u8]) -> bool {
        self.get(at) == Some(key)
    }

    fn is_too_large(&self) -> bool {
        self.ends.len() > MAX_ENTRIES || self.bytes.len() > MAX_BYTES
    }

    fn is_small(&self) -> bool {
        self.ends.len() < MAX_ENTRIES / 2 && self.bytes.len() < MAX_BYTES / 2
    }

    fn fits(&self, other: &Self) -> bool {
        self.ends.len() + other.ends.len() <= MAX_ENTRIES / 2
            && self.bytes.len() + other.bytes.len() <= MAX_BYTES / 2
    }

    fn split(&mut self, at: usize, grows: bool) -> Self {
        self.close();
        let start = self.begin_of(at);
        let bytes = self.bytes.split(start, grows);
        let mut ends = split_off(&mut self.ends, at, grows);
        for end in &mut ends {
            *end -= length(start);
        }
        Self { bytes, ends }
    }

    fn append(&mut self, other: &Self) {
        let (start, room) = (length(self.bytes.end()), length(other.bytes.begin()));
        self.bytes.push(other.bytes.live());
        self.ends
            .extend(other.ends.iter().map(|end| end - room + start));
    }
}
