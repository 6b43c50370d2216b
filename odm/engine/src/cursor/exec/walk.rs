//! A walk over an index within the bounds of its fields.
//!
//! If all keys within the bounds are adjacent, the walk reads one range. Otherwise it checks each key field by field,
//! and from a key outside the bounds it seeks to the next possible key.

use std::ops::{Bound, Range};
use std::sync::Arc;

use odm_language::value::key::{self, Direction};

use crate::index::tree::entries::Entries;
use crate::index::tree::{Leaf, LeafRef};
use crate::index::{Index, Key, RecordId, hash_key, key_of, record_of};
use crate::planner::interval::{Edge, Interval, after};
use crate::planner::plan::IndexScan;

/// The length of a hash in a key.
const HASH: usize = 8;

/// One field's bounds, in the order of the walk.
#[derive(Debug)]
struct Field {
    /// The stored bytes are inverted, for descending order.
    flipped: bool,
    hashed: bool,
    /// The walk visits greater values first.
    descends: bool,
    intervals: Arc<[Interval]>,
}

#[derive(Debug)]
pub(super) struct Walk {
    backwards: bool,
    /// The rest of the range, in index order.
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
    /// How many fields of each examined key the walk leaves behind, if it is a distinct scan.
    left_behind: Option<usize>,
    /// `None` if the range alone decides.
    fields: Option<Vec<Field>>,
    here: Option<CurrentLeaf>,
    done: bool,
    /// How often the walk sought a position in the index.
    pub(super) seeks: u64,
    /// The key of the last visited entry, if the query returns keys.
    pub(super) key: Option<Vec<u8>>,
}

/// The current leaf, and the places in it that are still to be read.
#[derive(Debug)]
struct CurrentLeaf {
    held: LeafRef<Entries>,
    places: Range<usize>,
    /// Whether the range ends in this leaf.
    is_last: bool,
}

/// The outcome of one step.
pub(super) enum StepOutcome {
    /// An entry within the bounds, by its record.
    Record(RecordId),
    /// A key outside of the bounds: the walk seeks on from there.
    Outside,
    /// A key after all bounds.
    Last,
    End,
}

/// The result of checking a key's fields.
enum Checked {
    Within,
    Done,
    /// Continue at this key.
    Seek(Bound<Vec<u8>>),
}

impl Walk {
    pub(super) fn new(index: &Index, scan: &IndexScan) -> Self {
        let parts: Vec<(bool, bool)> = if scan.path.is_some() {
            vec![(false, false); 2]
        } else {
            index
                .spec
                .parts
                .iter()
                .map(|part| (part.direction == Direction::Descending, part.hashed))
                .collect()
        };
        let fields: Vec<Field> = scan
            .fields
            .iter()
            .zip(parts)
            .map(|(intervals, (flipped, hashed))| {
                let descends = flipped != scan.backwards;
                let mut intervals = Arc::clone(intervals);
                if hashed || descends {
                    let mut own = intervals.to_vec();
                    if hashed {
                        own.iter_mut().for_each(hash);
                        own.sort_by(|one, other| one.low.key.cmp(&other.low.key));
                    }
                    if descends {
                        own.reverse();
                    }
                    intervals = own.into();
                }
                Field {
                    flipped,
                    hashed,
                    descends,
                    intervals,
                }
            })
            .collect();
        let mut walk = Self {
            backwards: scan.backwards,
            low: Bound::Unbounded,
            high: Bound::Unbounded,
            done: fields.iter().any(|field| field.intervals.is_empty()),
            left_behind: scan.distinct.map(|field| field + 1),
            fields: None,
            here: None,
            seeks: 0,
            key: None,
        };
        if let Some(limits) = &scan.limits {
            walk.low = limits.min.clone().map_or(Bound::Unbounded, Bound::Included);
            walk.high = limits.max.clone().map_or(Bound::Unbounded, Bound::Excluded);
            return walk;
        }
        if scan.is_one_range() && walk.left_behind.is_none() {
            let mut prefix = Vec::new();
            for field in &fields {
                let Some(interval) = field.intervals.first() else {
                    break;
                };
                if !interval.is_point() {
                    (walk.low, walk.high) = interval.bounds(&prefix, field.flipped);
                    return walk;
                }
                extend(&mut prefix, &interval.low, field);
            }
            walk.high = exclusive(after(prefix.clone()));
            walk.low = Bound::Included(prefix);
            return walk;
        }
        if !walk.done {
            walk.seek(start(&[], &fields, 0, 0));
        }
        walk.fields = Some(fields);
        walk
    }

    /// Continues at a key, or before it if the walk is backwards.
    fn seek(&mut self, at: Bound<Vec<u8>>) {
        if self.backwards {
            self.high = at;
        } else {
            self.low = at;
        }
        self.here = None;
    }

    /// The leaf where the range begins, with its places within the range.
    fn enter(&self, index: &Index) -> Option<CurrentLeaf> {
        let (low, high) = (borrow(&self.low), borrow(&self.high));
        let (from, until) = if self.backwards {
            (high, low)
        } else {
            (low, high)
        };
        let (held, at) = index.seek(from, self.backwards)?;
        let leaf = held.leaf()?;
        let (places, is_last) = if self.backwards {
            let first = leaf.start(until);
            (first..at + 1, first > 0)
        } else {
            let end = leaf.end(until);
            (at..end, end < leaf.len())
        };
        Some(CurrentLeaf {
            held,
            places,
            is_last,
        })
    }

    /// The place of the next entry, in the leaf that is now `here`.
    fn next_place(&mut self, index: &Index) -> Option<usize> {
        loop {
            let Some(here) = &mut self.here else {
                self.here = Some(self.enter(index)?);
                continue;
            };
            let next = if self.backwards {
                here.places.next_back()
            } else {
                here.places.next()
            };
            if next.is_some() || here.is_last {
                return next;
            }
            // The next leaf begins after this leaf's last entry.
            let leaf = here.held.leaf()?;
            let edge = if self.backwards {
                0
            } else {
                leaf.len().checked_sub(1)?
            };
            let edge = Bound::Excluded(leaf.get(edge)?.to_vec());
            self.seek(edge);
        }
    }

    pub(super) fn step(&mut self, index: &Index) -> StepOutcome {
        if self.seeks == 0 {
            self.seeks = 1;
        }
        if self.done {
            return StepOutcome::End;
        }
        let place = self.next_place(index);
        let leaf = self.here.as_ref().and_then(|here| here.held.leaf());
        let Some(entry) = place.and_then(|place| leaf?.get(place)) else {
            self.done = true;
            return StepOutcome::End;
        };
        if let Some(key) = &mut self.key {
            key.clear();
            key.extend_from_slice(key_of(entry));
        }
        let Some(fields) = &self.fields else {
            return StepOutcome::Record(record_of(entry));
        };
        match check(key_of(entry), fields) {
            Checked::Within => {
                let record = record_of(entry);
                if let Some(count) = self.left_behind {
                    let prefix = prefix(key_of(entry), fields, count).to_vec();
                    self.seek(if self.backwards {
                        Bound::Excluded(prefix)
                    } else {
                        after(prefix)
                    });
                }
                StepOutcome::Record(record)
            }
            Checked::Done => {
                self.done = true;
                StepOutcome::Last
            }
            Checked::Seek(at) => {
                self.seeks += 1;
                self.seek(at);
                StepOutcome::Outside
            }
        }
    }
}

/// Converts it to an interval of hashes. A range of values may have any hash.
fn hash(interval: &mut Interval) {
    if interval.is_point() {
        let hash = Key::from_slice(&hash_key(&interval.low.key).to_be_bytes());
        interval.low.key.clone_from(&hash);
        interval.high.key = hash;
    } else {
        interval.low.key = Key::new();
        interval.high.key = Key::from_slice(&[u8::MAX; HASH + 1]);
    }
}

fn extend(bytes: &mut Vec<u8>, edge: &Edge, field: &Field) {
    if field.flipped {
        bytes.extend(edge.key.iter().map(|byte| !byte));
    } else {
        bytes.extend_from_slice(&edge.key);
    }
}

fn exclusive(bound: Bound<Vec<u8>>) -> Bound<Vec<u8>> {
    match bound {
        Bound::Included(bytes) => Bound::Excluded(bytes),
        other => other,
    }
}

/// The first key of the walk with this prefix, with the start of the given interval in field `at`, and with the start
/// of the first interval in each later field.
fn start(prefix: &[u8], fields: &[Field], at: usize, interval: usize) -> Bound<Vec<u8>> {
    let mut bytes = prefix.to_vec();
    let backwards = fields
        .first()
        .is_some_and(|field| field.flipped != field.descends);
    for (number, field) in fields.iter().enumerate().skip(at) {
        let which = if number == at { interval } else { 0 };
        let Some(interval) = field.intervals.get(which) else {
            break;
        };
        let edge = if field.descends {
            &interval.high
        } else {
            &interval.low
        };
        if !edge.inclusive {
            let mut here = bytes.clone();
            extend(&mut here, edge, field);
            // Skips the edge itself, which is exclusive.
            return match (backwards, field.flipped) {
                (false, _) => match (field.flipped, is_value(edge)) {
                    (false, false) => Bound::Included(here),
                    _ => after(here),
                },
                (true, _) => Bound::Excluded(here),
            };
        }
        extend(&mut bytes, edge, field);
        // The next field in a key can only follow a whole value or hash.
        let is_whole = if field.hashed {
            edge.key.len() == HASH
        } else {
            is_value(edge)
        };
        if !is_whole {
            break;
        }
    }
    if backwards {
        exclusive(after(bytes))
    } else {
        Bound::Included(bytes)
    }
}

/// Whether an edge is a whole value, not the start of a type's range.
fn is_value(edge: &Edge) -> bool {
    key::length(&edge.key, false) == Some(edge.key.len())
}

fn check(bytes: &[u8], fields: &[Field]) -> Checked {
    let mut at = 0;
    let mut room = false;
    for (number, field) in fields.iter().enumerate() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = if field.hashed {
            Some(HASH)
        } else {
            key::length(rest, field.flipped)
        };
        let Some(stored) = length.and_then(|length| rest.get(..length)) else {
            return Checked::Done;
        };
        let flipped: Vec<u8>;
        let value = if field.flipped {
            flipped = stored.iter().map(|byte| !byte).collect();
            flipped.as_slice()
        } else {
            stored
        };
        let prefix = bytes.get(..at).unwrap_or_default();
        // The first interval that the walk has not passed.
        let behind = |interval: &Interval| {
            if field.descends {
                is_below(value, &interval.low)
            } else {
                is_above(value, &interval.high)
            }
        };
        let which = field.intervals.partition_point(behind);
        let Some(interval) = field.intervals.get(which) else {
            if !room {
                return Checked::Done;
            }
            let backwards = field.flipped != field.descends;
            return Checked::Seek(if backwards {
                Bound::Excluded(prefix.to_vec())
            } else {
                after(prefix.to_vec())
            });
        };
        let ahead = if field.descends {
            is_above(value, &interval.high)
        } else {
            is_below(value, &interval.low)
        };
        if ahead {
            return Checked::Seek(start(prefix, fields, number, which));
        }
        let end = if field.descends {
            &interval.low
        } else {
            &interval.high
        };
        room |= which + 1 < field.intervals.len() || value != end.key.as_slice();
        at += stored.len();
    }
    Checked::Within
}

/// The first fields of a key.
fn prefix<'k>(key: &'k [u8], fields: &[Field], count: usize) -> &'k [u8] {
    let mut at = 0;
    for field in fields.iter().take(count) {
        let rest = key.get(at..).unwrap_or_default();
        at += if field.hashed {
            HASH
        } else {
            key::length(rest, field.flipped).unwrap_or(rest.len())
        };
    }
    key.get(..at).unwrap_or(key)
}

fn is_below(value: &[u8], edge: &Edge) -> bool {
    let key = edge.key.as_slice();
    value < key || (value == key && !edge.inclusive)
}

fn is_above(value: &[u8], edge: &Edge) -> bool {
    let key = edge.key.as_slice();
    value > key || (value == key && !edge.inclusive)
}

fn borrow(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(bytes) => Bound::Included(bytes),
        Bound::Excluded(bytes) => Bound::Excluded(bytes),
        Bound::Unbounded => Bound::Unbounded,
    }
}
