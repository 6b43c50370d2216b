//! The running steps of a plan, each with its counters.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;

use odm_language::error::ServerError;
use odm_language::matcher::Matcher;

use crate::catalog::collection::Collection;
use crate::catalog::text_scan;
use crate::cursor::exec::collection_scan::CollectionScan;
use crate::cursor::exec::index_scan::{IndexScanStep, Output};
use crate::cursor::exec::sorter::{self, SavedRow, Sorter};
use crate::cursor::exec::{Bytes, Lent, Shared, Work, near};
use crate::index::RecordId;
use crate::planner::access_path::AccessPath;
use crate::planner::plan::{IndexScan, Node, Step};

/// A step's counters, as `explain` reports them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    pub(crate) works: u64,
    pub(crate) advanced: u64,
    pub(crate) need_time: u64,
    pub(crate) keys: u64,
    pub(crate) docs: u64,
    pub(crate) seeks: u64,
    pub(crate) dups_tested: u64,
    pub(crate) dups_dropped: u64,
    pub(crate) already_fetched: u64,
    pub(crate) sorted_bytes: u64,
    pub(crate) skipped: u64,
}

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) counters: Counters,
    pub(crate) inputs: Vec<Self>,
    state: State,
}

#[derive(Debug)]
enum State {
    End,
    Records(CollectionScan),
    Index(Box<IndexScanStep>),
    Near(Box<near::Search>),
    Listed(std::vec::IntoIter<RecordId>),
    Fetch(Fetch),
    Or { at: usize, seen: HashSet<RecordId> },
    Merge(Merge),
    Sort(Sorter),
    Skip(u64),
    Limit(u64),
    Project,
}

/// Reads the documents of records.
#[derive(Debug)]
struct Fetch {
    /// The inputs have read the document and applied the filter.
    fetched: bool,
    /// The index bounds cover the whole filter, so documents need no test.
    answered: bool,
    /// The conditions of a branch of an `$or`.
    own: Option<Arc<Matcher>>,
}

#[derive(Debug)]
struct Merge {
    /// Inputs whose next record is not read yet.
    waiting: VecDeque<usize>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize, SavedRow)>>,
    seen: HashSet<RecordId>,
    /// The record returned last.
    shown: Option<SavedRow>,
}

impl Stage {
    /// `alone` is false for the inputs of an `$or`, where one branch's bounds are not the whole filter.
    pub(super) fn new(node: &Node, shared: &Shared, alone: bool) -> Self {
        let mut counters = Counters::default();
        let indexed = |scan: &IndexScan, gives| {
            IndexScanStep::new(scan, shared, gives)
                .map_or(State::End, |indexed| State::Index(Box::new(indexed)))
        };
        let state = match &node.step {
            Step::Nothing => State::End,
            Step::Records { backwards } => State::Records(CollectionScan::new(*backwards)),
            Step::ById(scan) => indexed(scan, Output::ById),
            Step::Index(scan) if scan.covers => indexed(scan, Output::Key),
            Step::Index(scan) => indexed(scan, Output::Record),
            Step::CountIndex(scan) => indexed(scan, Output::Count),
            Step::AccessPath(AccessPath::Near(plan)) => {
                State::Near(Box::new(near::Search::new(plan.as_ref().clone())))
            }
            Step::AccessPath(AccessPath::Text(scan)) => {
                let (records, keys) = text_scan::text_records(&shared.collection, scan);
                counters.keys = keys;
                State::Listed(records.into_iter())
            }
            Step::Fetch { all, .. } => State::Fetch(Fetch {
                fetched: node.inputs.iter().all(Node::is_fetched),
                answered: *all
                    && alone
                    && node.branch.is_none()
                    && matches!(node.inputs.as_slice(), [only] if matches!(only.step, Step::Index(_))),
                own: node
                    .branch
                    .and_then(|at| shared.alternative(at))
                    .map(Arc::new),
            }),
            Step::Or => State::Or {
                at: 0,
                seen: HashSet::new(),
            },
            Step::Merge => State::Merge(Merge {
                waiting: (0..node.inputs.len()).collect(),
                heap: BinaryHeap::new(),
                seen: HashSet::new(),
                shown: None,
            }),
            Step::Sort { limit } => State::Sort(Sorter::new(
                limit.and_then(|limit| usize::try_from(limit).ok()),
            )),
            Step::Skip(count) => State::Skip(*count),
            Step::Limit(count) => State::Limit(*count),
            Step::Project => State::Project,
        };
        let joins = matches!(node.step, Step::Or | Step::Merge);
        Self {
            counters,
            inputs: node
                .inputs
                .iter()
                .map(|input| Self::new(input, shared, alone && !joins))
                .collect(),
            state,
        }
    }

    #[cfg(test)]
    pub(super) fn all_counters(&self) -> Vec<Counters> {
        let own = std::iter::once(self.counters.clone());
        own.chain(self.inputs.iter().flat_map(Self::all_counters))
            .collect()
    }

    pub(super) fn examined(&self) -> (u64, u64) {
        self.inputs.iter().fold(
            (self.counters.keys, self.counters.docs),
            |(keys, docs), input| {
                let (more_keys, more_docs) = input.examined();
                (keys + more_keys, docs + more_docs)
            },
        )
    }

    /// Whether the step is known to be at its end.
    pub(crate) fn is_at_end(&self) -> bool {
        let input = || self.inputs.first().is_none_or(Self::is_at_end);
        match &self.state {
            State::End => true,
            State::Records(natural) => natural.is_at_end(),
            State::Sort(sorter) => sorter.is_at_end(),
            State::Index(indexed) => indexed.is_at_end(),
            State::Near(search) => search.is_done(),
            State::Listed(records) => records.len() == 0,
            State::Fetch(_) | State::Project | State::Skip(_) => input(),
            State::Or { at, .. } => *at >= self.inputs.len(),
            State::Merge(merge) => merge.waiting.is_empty() && merge.heap.is_empty(),
            State::Limit(left) => *left == 0 || input(),
        }
    }

    /// Whether a limit has returned all its rows, or an `_id` lookup its record.
    pub(crate) fn is_exhausted(&self) -> bool {
        match &self.state {
            State::Limit(left) => *left == 0,
            State::Index(indexed) => indexed.is_exhausted(),
            State::Project | State::Skip(_) => self.inputs.first().is_some_and(Self::is_exhausted),
            _ => false,
        }
    }

    /// Continues in a newer version of the collection, after the last record of a scan in natural order. Fails if that
    /// record is gone.
    pub(super) fn resume(&mut self, collection: &Collection) -> Result<(), ServerError> {
        if let State::Records(natural) = &mut self.state {
            natural.resume(collection)?;
        }
        self.inputs
            .iter_mut()
            .try_for_each(|input| input.resume(collection))
    }

    /// Whether a scan in natural order has a position to continue from.
    pub(crate) fn has_place(&self) -> bool {
        matches!(&self.state, State::Records(natural) if natural.has_place())
            || self.inputs.iter().any(Self::has_place)
    }

    /// Works until it has a row or is at its end, for at most `units` units, and subtracts the units it used. It may
    /// stop early, but uses at least one.
    pub(super) fn advance<'a>(
        &'a mut self,
        shared: &'a Shared,
        units: &mut u64,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        let Self {
            counters,
            inputs,
            state,
        } = self;
        let before = *units;
        let work = state.advance(counters, inputs, shared, units)?;
        if *units == before {
            *units = before.saturating_sub(1);
        }
        let done = before - *units;
        counters.works += done;
        counters.need_time += done;
        match &work {
            Work::Row(_) => {
                counters.advanced += 1;
                counters.need_time -= 1;
            }
            Work::Again => {}
            Work::End => counters.need_time -= 1,
        }
        Ok(work)
    }

    /// Passes its rows to `take`, for at most `units` units. Returns whether it is at its end.
    fn feed(
        &mut self,
        shared: &Shared,
        units: &mut u64,
        mut take: impl FnMut(Lent<'_>) -> Result<(), ServerError>,
    ) -> Result<bool, ServerError> {
        if let State::Records(natural) = &mut self.state {
            let before = *units;
            let counters = &mut self.counters;
            let (ended, rows) = natural.feed(counters, shared, units, &mut take)?;
            let done = before - *units;
            counters.works += done;
            counters.advanced += rows;
            counters.need_time += done - rows - u64::from(ended);
            return Ok(ended);
        }
        while *units > 0 {
            match self.advance(shared, units)? {
                Work::Row(row) => take(row)?,
                Work::Again => {}
                Work::End => return Ok(true),
            }
        }
        Ok(false)
    }
}

impl State {
    /// A state that does a single unit of work leaves `units` unchanged; the caller subtracts it.
    fn advance<'a>(
        &'a mut self,
        counters: &mut Counters,
        inputs: &'a mut [Stage],
        shared: &'a Shared,
        units: &mut u64,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        match self {
            Self::End => Ok(Work::End),
            Self::Records(natural) => natural.advance(counters, shared, units),
            Self::Index(indexed) => indexed.step(counters, shared),
            Self::Near(search) => search.step(counters, &shared.collection),
            Self::Listed(records) => Ok(records
                .next()
                .map_or(Work::End, |record| Work::Row((record, Bytes::None)))),
            Self::Fetch(fetch) => fetch.advance(counters, inputs, shared, units),
            Self::Or { at, seen } => {
                let count = inputs.len();
                let Some(input) = inputs.get_mut(*at) else {
                    return Ok(Work::End);
                };
                match input.advance(shared, units)? {
                    Work::Row(row) => {
                        counters.dups_tested += 1;
                        if seen.insert(row.0) {
                            return Ok(Work::Row(row));
                        }
                        counters.dups_dropped += 1;
                        Ok(Work::Again)
                    }
                    Work::Again => Ok(Work::Again),
                    Work::End => {
                        *at += 1;
                        Ok(if *at < count { Work::Again } else { Work::End })
                    }
                }
            }
            Self::Merge(merge) => merge.advance(counters, inputs, shared, units),
            Self::Sort(sorter) => {
                if sorter.is_sorted() {
                    return Ok(sorter.next().map_or(Work::End, Work::Row));
                }
                let Some(input) = inputs.first_mut() else {
                    sorter.finish();
                    return Ok(Work::Again);
                };
                let ended = input.feed(shared, units, |row| {
                    let size = row.1.get().map_or(0, <[u8]>::len);
                    counters.sorted_bytes += u64::try_from(size).unwrap_or(0);
                    sorter.add(row, shared)
                })?;
                if ended {
                    sorter.finish();
                }
                Ok(Work::Again)
            }
            Self::Skip(left) => {
                let work = next(inputs, shared, units)?;
                if *left > 0 && matches!(work, Work::Row(_)) {
                    *left -= 1;
                    counters.skipped += 1;
                    return Ok(Work::Again);
                }
                Ok(work)
            }
            Self::Limit(left) => {
                if *left == 0 {
                    return Ok(Work::End);
                }
                let work = next(inputs, shared, units)?;
                if matches!(work, Work::Row(_)) {
                    *left -= 1;
                }
                Ok(work)
            }
            Self::Project => next(inputs, shared, units),
        }
    }
}

impl Fetch {
    fn advance<'a>(
        &self,
        counters: &mut Counters,
        inputs: &'a mut [Stage],
        shared: &'a Shared,
        units: &mut u64,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        let Some(input) = inputs.first_mut().filter(|input| !input.is_at_end()) else {
            return Ok(Work::End);
        };
        let (record, bytes) = match input.advance(shared, units)? {
            Work::Row(row) => row,
            other => return Ok(other),
        };
        if self.fetched || bytes.get().is_some() {
            counters.docs += 1;
            counters.already_fetched += 1;
            return Ok(Work::Row((record, bytes)));
        }
        let Some(stored) = shared.collection.stored(record) else {
            return Ok(Work::Again);
        };
        counters.docs += 1;
        let matches = match &self.own {
            _ if self.answered => true,
            Some(own) => own.matches_bytes(stored.bytes)?,
            None => shared.matches_fetched(stored.bytes)?,
        };
        Ok(if matches {
            Work::Row((record, Bytes::Stored(stored)))
        } else {
            shared.forget(record);
            Work::Again
        })
    }
}

fn next<'a>(
    inputs: &'a mut [Stage],
    shared: &'a Shared,
    units: &mut u64,
) -> Result<Work<Lent<'a>>, ServerError> {
    match inputs.first_mut() {
        Some(input) => input.advance(shared, units),
        None => Ok(Work::End),
    }
}

impl Merge {
    fn advance<'a>(
        &'a mut self,
        counters: &mut Counters,
        inputs: &mut [Stage],
        shared: &'a Shared,
        units: &mut u64,
    ) -> Result<Work<Lent<'a>>, ServerError> {
        let Some(at) = self.waiting.front().copied() else {
            let Some(Reverse((_, at, kept))) = self.heap.pop() else {
                return Ok(Work::End);
            };
            self.waiting.push_back(at);
            return Ok(Work::Row(self.shown.insert(kept).lend()));
        };
        let work = match inputs.get_mut(at) {
            Some(input) => input.advance(shared, units)?,
            None => Work::End,
        };
        match work {
            Work::Row(row) => {
                counters.dups_tested += 1;
                if self.seen.insert(row.0) {
                    let mut key = Vec::new();
                    sorter::key_into(row, shared, &mut key)?;
                    self.heap.push(Reverse((key, at, SavedRow::of(row))));
                    self.waiting.pop_front();
                } else {
                    counters.dups_dropped += 1;
                }
            }
            Work::Again => {}
            Work::End => {
                self.waiting.pop_front();
            }
        }
        Ok(Work::Again)
    }
}
