//! A walk over the records in the order of their insertion.

use std::ops::{Bound, Range};

use crate::engine::catalog::collection::Collection;
use crate::engine::cursor::exec::stage::Counters;
use crate::engine::cursor::exec::{Bytes, Lent, Shared, Work};
use crate::engine::index::RecordId;
use crate::engine::index::tree::records::{Records, Stored};
use crate::engine::index::tree::{Held, Leaf};
use crate::error::{Code, ServerError};

#[derive(Debug)]
pub(super) struct Natural {
    backwards: bool,
    last: Option<RecordId>,
    /// The leaf that is being read, and the places in it that are still to come.
    here: Option<(Held<Records>, Range<usize>)>,
    /// The first unit of work only begins.
    begun: bool,
    done: bool,
}

impl Natural {
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

    /// Whether there is a place to go on from.
    pub(super) fn has_place(&self) -> bool {
        self.last.is_some()
    }

    /// Goes on in a newer version of the collection, after the last record. If that one is gone, so is the place.
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

    pub(super) fn step<'a>(
        &'a mut self,
        counters: &mut Counters,
        shared: &Shared,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        if !self.begun {
            self.begun = true;
            return Ok(Work::Again);
        }
        let place = self.next_place(&shared.collection);
        let stored = place
            .zip(self.here.as_ref())
            .and_then(|(at, (held, _))| Stored::at(held.place(at)));
        let Some(stored) = stored else {
            self.done = true;
            return Ok(Work::End);
        };
        self.last = Some(stored.record);
        counters.docs += 1;
        Ok(if shared.matches(stored.bytes)? {
            Work::Row((stored.record, Bytes::Stored(stored)))
        } else {
            Work::Again
        })
    }

    /// The place of the next record, in the leaf that is now `here`.
    fn next_place(&mut self, collection: &Collection) -> Option<usize> {
        if self.done {
            return None;
        }
        if let Some((_, places)) = &mut self.here {
            let next = if self.backwards {
                places.next_back()
            } else {
                places.next()
            };
            if next.is_some() {
                return next;
            }
        }
        let from = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        self.here = None;
        let (held, at) = collection.seek(from, self.backwards)?;
        let places = if self.backwards {
            0..at
        } else {
            at + 1..held.leaf()?.len()
        };
        self.here = Some((held, places));
        Some(at)
    }
}
