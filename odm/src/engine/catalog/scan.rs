//! Walks over a snapshot of a collection, a few records at a time.

use std::collections::{HashSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::catalog::collection::Collection;
use crate::engine::catalog::special;
use crate::engine::index::{self, RecordId};
use crate::engine::planner::{Access, Range};
use crate::error::{Code, ServerError};
use crate::value::key::Direction;

/// How many records are fetched from the maps at once.
const CHUNK: usize = 64;

/// The candidates of a query. It owns its snapshot, so it can be kept between two commands.
#[derive(Debug)]
pub(crate) struct Scan {
    collection: Arc<Collection>,
    walk: Walk,
    pub(crate) keys_examined: u64,
    pub(crate) docs_examined: u64,
}

#[derive(Debug)]
enum Walk {
    Done,
    Records {
        backwards: bool,
        last: Option<RecordId>,
        ready: VecDeque<(RecordId, Arc<[u8]>)>,
    },
    Index {
        name: String,
        backwards: bool,
        ranges: VecDeque<Range>,
        ready: VecDeque<RecordId>,
        /// Of a multikey index, which may hold a record several times.
        seen: Option<HashSet<RecordId>>,
    },
    Listed(std::vec::IntoIter<RecordId>),
}

impl Scan {
    pub(crate) fn new(collection: Arc<Collection>, access: Access) -> Self {
        let mut keys_examined = 0;
        let walk = match access {
            Access::Special(special) => {
                let (records, keys) = special::records(&collection, &special);
                keys_examined = keys;
                Walk::Listed(records.into_iter())
            }
            Access::Nothing => Walk::Done,
            Access::Records { backwards } => Walk::Records {
                backwards,
                last: None,
                ready: VecDeque::new(),
            },
            Access::Index {
                name,
                ranges,
                backwards,
            } => {
                let multikey = collection.index(&name).is_some_and(|index| index.multikey);
                Walk::Index {
                    name,
                    backwards,
                    ranges: ranges.into(),
                    ready: VecDeque::new(),
                    seen: multikey.then(HashSet::new),
                }
            }
        };
        Self {
            collection,
            walk,
            keys_examined,
            docs_examined: 0,
        }
    }

    /// Goes on in a newer version of the collection, after the last record of a walk in natural order. If that one is
    /// gone, so is the place.
    pub(crate) fn resume(&mut self, collection: Arc<Collection>) -> Result<(), ServerError> {
        if let Walk::Records { last, ready, .. } = &mut self.walk {
            if let Some(last) = last
                && collection.get(*last).is_none()
            {
                return Err(ServerError::new(
                    Code::CAPPED_POSITION_LOST,
                    format!(
                        "CollectionScan died due to failure to restore tailable cursor position. Last seen record id: \
                         RecordId({last})"
                    ),
                ));
            }
            ready.clear();
        }
        self.collection = collection;
        Ok(())
    }

    /// Whether a walk in natural order has a place to go on from.
    pub(crate) fn has_place(&self) -> bool {
        matches!(&self.walk, Walk::Records { last: Some(_), .. })
    }

    /// The next record without its document, where the walk is over an index: enough for a count.
    pub(crate) fn next_record(&mut self) -> Option<RecordId> {
        match &mut self.walk {
            Walk::Done => None,
            Walk::Listed(records) => records.next(),
            Walk::Records { .. } => self.next().map(|(record, _)| record),
            Walk::Index {
                name,
                backwards,
                ranges,
                ready,
                seen,
            } => loop {
                let Some(record) = ready.pop_front() else {
                    if !refill(&self.collection, name, *backwards, ranges, ready) {
                        return None;
                    }
                    continue;
                };
                self.keys_examined += 1;
                if let Some(seen) = seen
                    && !seen.insert(record)
                {
                    continue;
                }
                return Some(record);
            },
        }
    }
}

/// Fetches the next entries; false at the end of the last range.
fn refill(
    collection: &Collection,
    name: &str,
    backwards: bool,
    ranges: &mut VecDeque<Range>,
    ready: &mut VecDeque<RecordId>,
) -> bool {
    let Some(index) = collection.index(name) else {
        return false;
    };
    let direction = if backwards {
        Direction::Descending
    } else {
        Direction::Ascending
    };
    while let Some(range) = ranges.front_mut() {
        let entries = index.range(borrow(&range.low), borrow(&range.high), direction, CHUNK);
        let Some(last) = entries.last() else {
            ranges.pop_front();
            continue;
        };
        let edge = Bound::Excluded(last.to_vec());
        if backwards {
            range.high = edge;
        } else {
            range.low = edge;
        }
        ready.extend(entries.iter().map(|entry| index::record_of(entry)));
        return true;
    }
    false
}

fn borrow(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(bytes) => Bound::Included(bytes),
        Bound::Excluded(bytes) => Bound::Excluded(bytes),
        Bound::Unbounded => Bound::Unbounded,
    }
}

impl Iterator for Scan {
    type Item = (RecordId, Arc<[u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Walk::Records {
            backwards,
            last,
            ready,
        } = &mut self.walk
        {
            if ready.is_empty() {
                ready.extend(self.collection.scan(*last, *backwards, CHUNK));
            }
            let (record, bytes) = ready.pop_front()?;
            *last = Some(record);
            self.docs_examined += 1;
            return Some((record, bytes));
        }
        loop {
            let record = self.next_record()?;
            self.docs_examined += 1;
            if let Some(bytes) = self.collection.get(record) {
                return Some((record, Arc::clone(bytes)));
            }
        }
    }
}
