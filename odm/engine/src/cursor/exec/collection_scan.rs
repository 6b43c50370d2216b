//! A collection scan: walks the records in insertion order.

use std::hint::black_box;
use std::ops::{Bound, Range};

use odm_language::error::{Code, ServerError};

use crate::catalog::collection::Collection;
use crate::cursor::exec::stage::Counters;
use crate::cursor::exec::{Bytes, Lent, Shared, Work};
use crate::index::RecordId;
use crate::index::tree::records::{Records, Stored};
use crate::index::tree::{Leaf, Leaves};

#[derive(Debug)]
pub(super) struct CollectionScan {
    backwards: bool,
    last: Option<RecordId>,
    /// The current leaf, and the places in it that are still to be read.
    here: Option<(Leaves<Records>, Range<usize>)>,
    /// The first unit of work only starts the scan.
    begun: bool,
    done: bool,
}

impl CollectionScan {
    pub(super) fn new(backwards: bool) -> Self {
        Self {
            backwards,
            last: None,
            here: None,
            begun: false,
            done: false,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.done
    }

    /// Whether the scan has a position to continue from.
    pub(super) fn has_place(&self) -> bool {
        self.last.is_some()
    }

    /// Continues in a newer version of the collection after the last record. Fails if that record is gone.
    pub(super) fn resume(&mut self, collection: &Collection) -> Result<(), ServerError> {
        if let Some(last) = self.last
            && collection.get(last).is_none()
        {
            return Err(ServerError::new(
                Code::CAPPED_POSITION_LOST,
                format!(
                    "CollectionScan died due to failure to restore tailable cursor position. Last seen record id: \
                     RecordId({last})"
                ),
            ));
        }
        self.here = None;
        self.done = false;
        Ok(())
    }

    /// Works until a record matches, for at most `units` units.
    pub(super) fn advance<'a>(
        &'a mut self,
        counters: &mut Counters,
        shared: &Shared,
        units: &mut u64,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        let mut place = 0;
        let end = self.scan(counters, shared, units, &mut |at, _| {
            place = at;
            Ok(false)
        })?;
        Ok(match end {
            Scanned::Units => Work::Again,
            Scanned::All => Work::End,
            Scanned::Enough => {
                let here = self.here.as_ref();
                let stored = here.and_then(|(leaves, _)| Stored::at(leaves.place(place)?));
                stored.map_or(Work::End, |stored| {
                    Work::Row((stored.record, Bytes::Stored(stored)))
                })
            }
        })
    }

    /// Passes every matching record to `take`, for at most `units` units. Returns whether the scan is at its end, and
    /// the number of records.
    pub(super) fn feed(
        &mut self,
        counters: &mut Counters,
        shared: &Shared,
        units: &mut u64,
        take: &mut impl FnMut(Lent<'_>) -> Result<(), ServerError>,
    ) -> Result<(bool, u64), ServerError> {
        let mut rows = 0;
        let end = self.scan(counters, shared, units, &mut |_, stored| {
            rows += 1;
            take((stored.record, Bytes::Stored(stored)))?;
            Ok(true)
        })?;
        Ok((end == Scanned::All, rows))
    }

    /// Passes matching records and their places in the leaf to `goes_on`, until it returns false. Each record is a unit
    /// of work.
    fn scan(
        &mut self,
        counters: &mut Counters,
        shared: &Shared,
        units: &mut u64,
        goes_on: &mut impl FnMut(usize, Stored<'_>) -> Result<bool, ServerError>,
    ) -> Result<Scanned, ServerError> {
        if !self.begun {
            self.begun = true;
            *units -= 1;
        }
        while *units > 0 {
            if self.done || !self.enter(&shared.collection) {
                self.done = true;
                *units -= 1;
                return Ok(Scanned::All);
            }
            let Some((leaves, places)) = &mut self.here else {
                continue;
            };
            let Some((leaf, mut place)) = leaves.leaf().zip(leaves.place(0)) else {
                continue;
            };
            while *units > 0 {
                let next = if self.backwards {
                    places.next_back()
                } else {
                    places.next()
                };
                let Some(at) = next else {
                    break;
                };
                place.at = at;
                let Some(stored) = Stored::within(leaf, place) else {
                    break;
                };
                self.last = Some(stored.record);
                counters.docs += 1;
                *units -= 1;
                if shared.matches(stored.bytes)? && !goes_on(at, stored)? {
                    return Ok(Scanned::Enough);
                }
            }
        }
        Ok(Scanned::Units)
    }

    /// Moves to the leaf of the next record; false at the end.
    fn enter(&mut self, collection: &Collection) -> bool {
        if let Some((leaves, places)) = &mut self.here {
            if places.start < places.end {
                return true;
            }
            if leaves.go_on(self.backwards) {
                *places = 0..leaves.leaf().map_or(0, Leaf::len);
                approach(leaves, self.backwards);
                return true;
            }
        }
        let from = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        self.here = collection
            .leaves(from, self.backwards)
            .and_then(|(leaves, at)| {
                let places = if self.backwards {
                    0..at + 1
                } else {
                    at..leaves.leaf()?.len()
                };
                Some((leaves, places))
            });
        self.here.is_some()
    }
}

/// Prefetches the next documents while the current ones are read. Finding a document takes three dependent reads: the
/// leaf, the place of the document, the document. So each is made one leaf earlier than the next.
fn approach(leaves: &Leaves<Records>, backwards: bool) {
    let ahead = |count| leaves.ahead(count, backwards);
    black_box(ahead(3).map(Leaf::len));
    if let Some(leaf) = ahead(2) {
        leaf.touch_places();
    }
    if let Some(leaf) = ahead(1) {
        leaf.touch_documents();
    }
}

/// Why a scan ended.
#[derive(Debug, PartialEq, Eq)]
enum Scanned {
    /// It used up its units.
    Units,
    /// The caller stopped it.
    Enough,
    /// There are no more records.
    All,
}
