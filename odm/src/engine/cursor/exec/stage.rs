//! The steps of a plan as they run, with what each has counted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;

use bson::raw::RawDocumentBuf;

use crate::engine::catalog::collection::{Collection, document};
use crate::engine::catalog::special;
use crate::engine::cursor::exec::near;
use crate::engine::cursor::exec::walk::{Met, Walk};
use crate::engine::cursor::exec::{Row, Shared, Work};
use crate::engine::index::{self, RecordId};
use crate::engine::matcher::Matcher;
use crate::engine::planner::conditions;
use crate::engine::planner::special::Special;
use crate::engine::planner::tree::{IndexScan, Node, Step};
use crate::error::{Code, ServerError};
use crate::value::path::Path;

/// How many records are fetched from the map at once.
const CHUNK: usize = 64;

/// What a step has done, in the words of `explain`.
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
    Records {
        backwards: bool,
        last: Option<RecordId>,
        ready: VecDeque<Row>,
        /// The first unit of work only begins.
        begun: bool,
        done: bool,
    },
    Index(Box<Indexed>),
    Near(Box<near::Search>),
    Listed(std::vec::IntoIter<RecordId>),
    Fetch {
        /// Inputs have looked at the document and applied the filter.
        fetched: bool,
    },
    Or {
        at: usize,
        seen: HashSet<RecordId>,
    },
    Merge(Merge),
    Sort {
        limit: Option<usize>,
        keyed: Vec<(Vec<u8>, Row)>,
        sorted: Option<std::vec::IntoIter<Row>>,
        /// It has said that nothing more comes.
        done: bool,
    },
    Skip(u64),
    Limit(u64),
    Project,
}

#[derive(Debug)]
struct Indexed {
    walk: Walk,
    scan: IndexScan,
    /// What the index itself tests.
    tests: Option<Matcher>,
    /// Of an index where arrays may have made several keys of a record.
    seen: Option<HashSet<RecordId>>,
    by_id: bool,
    counts: bool,
    done: bool,
}

#[derive(Debug)]
struct Merge {
    /// Inputs whose next record is not known.
    waiting: VecDeque<usize>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize, Row)>>,
    seen: HashSet<RecordId>,
}

impl Stage {
    pub(super) fn new(node: &Node, shared: &Shared) -> Self {
        let mut counters = Counters::default();
        let indexed = |scan: &IndexScan, by_id, counts| {
            let Some(index) = shared.collection.index(&scan.name) else {
                return State::End;
            };
            let multikey = match &scan.path {
                Some(path) => {
                    index.arrays.has(path) || scan.fields.first().is_some_and(|at| at.len() > 1)
                }
                None => index.multikey(),
            };
            State::Index(Box::new(Indexed {
                walk: Walk::new(index, scan),
                tests: (!scan.tested.is_empty())
                    .then_some(shared.matcher.as_deref())
                    .flatten()
                    .map(|matcher| only(matcher, &scan.tested)),
                scan: scan.clone(),
                seen: multikey.then(HashSet::new),
                by_id,
                counts,
                done: false,
            }))
        };
        let state = match &node.step {
            Step::Nothing => State::End,
            Step::Records { backwards } => State::Records {
                backwards: *backwards,
                last: None,
                ready: VecDeque::new(),
                begun: false,
                done: false,
            },
            Step::ById(scan) => indexed(scan, true, false),
            Step::Index(scan) => indexed(scan, false, false),
            Step::CountIndex(scan) => indexed(scan, false, true),
            Step::Special(Special::Near(plan)) => {
                State::Near(Box::new(near::Search::new(plan.as_ref().clone())))
            }
            Step::Special(Special::Text(scan)) => {
                let (records, keys) = special::text_records(&shared.collection, scan);
                counters.keys = keys;
                State::Listed(records.into_iter())
            }
            Step::Fetch { .. } => State::Fetch {
                fetched: node.inputs.iter().all(Node::is_fetched),
            },
            Step::Or => State::Or {
                at: 0,
                seen: HashSet::new(),
            },
            Step::Merge => State::Merge(Merge {
                waiting: (0..node.inputs.len()).collect(),
                heap: BinaryHeap::new(),
                seen: HashSet::new(),
            }),
            Step::Sort { limit } => State::Sort {
                limit: limit.and_then(|limit| usize::try_from(limit).ok()),
                keyed: Vec::new(),
                sorted: None,
                done: false,
            },
            Step::Skip(count) => State::Skip(*count),
            Step::Limit(count) => State::Limit(*count),
            Step::Project => State::Project,
        };
        Self {
            counters,
            inputs: node
                .inputs
                .iter()
                .map(|input| Self::new(input, shared))
                .collect(),
            state,
        }
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

    /// Whether it is known that nothing more comes.
    pub(crate) fn is_at_end(&self) -> bool {
        let input = || self.inputs.first().is_none_or(Self::is_at_end);
        match &self.state {
            State::End => true,
            State::Records { done, .. } | State::Sort { done, .. } => *done,
            State::Index(indexed) => indexed.done,
            State::Near(search) => search.is_done(),
            State::Listed(records) => records.len() == 0,
            State::Fetch { .. } | State::Project | State::Skip(_) => input(),
            State::Or { at, .. } => *at >= self.inputs.len(),
            State::Merge(merge) => merge.waiting.is_empty() && merge.heap.is_empty(),
            State::Limit(left) => *left == 0 || input(),
        }
    }

    /// A limit has let all through that it may.
    pub(crate) fn is_exhausted(&self) -> bool {
        match &self.state {
            State::Limit(left) => *left == 0,
            State::Index(indexed) => indexed.by_id && indexed.done,
            State::Project | State::Skip(_) => self.inputs.first().is_some_and(Self::is_exhausted),
            _ => false,
        }
    }

    /// Goes on in a newer version of the collection, after the last record of a walk in natural order. If that one is
    /// gone, so is the place.
    pub(super) fn resume(&mut self, collection: &Collection) -> Result<(), ServerError> {
        if let State::Records {
            last, ready, done, ..
        } = &mut self.state
        {
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
            *done = false;
        }
        self.inputs
            .iter_mut()
            .try_for_each(|input| input.resume(collection))
    }

    /// Whether a walk in natural order has a place to go on from.
    pub(crate) fn has_place(&self) -> bool {
        matches!(&self.state, State::Records { last: Some(_), .. })
            || self.inputs.iter().any(Self::has_place)
    }

    /// One unit of work.
    pub(super) fn work(&mut self, shared: &Shared) -> Result<Work, ServerError> {
        self.counters.works += 1;
        let work = self.step(shared)?;
        match &work {
            Work::Row(_) => self.counters.advanced += 1,
            Work::Again => self.counters.need_time += 1,
            Work::End => {}
        }
        Ok(work)
    }

    fn step(&mut self, shared: &Shared) -> Result<Work, ServerError> {
        let Self {
            counters,
            inputs,
            state,
        } = self;
        match state {
            State::End => Ok(Work::End),
            State::Records {
                backwards,
                last,
                ready,
                begun,
                done,
            } => {
                if !*begun {
                    *begun = true;
                    return Ok(Work::Again);
                }
                if ready.is_empty() && !*done {
                    ready.extend(shared.collection.scan(*last, *backwards, CHUNK));
                }
                let Some((record, bytes)) = ready.pop_front() else {
                    *done = true;
                    return Ok(Work::End);
                };
                *last = Some(record);
                counters.docs += 1;
                Ok(if shared.matches(&bytes)? {
                    Work::Row((record, bytes))
                } else {
                    Work::Again
                })
            }
            State::Index(indexed) => indexed.step(counters, shared),
            State::Near(search) => search.step(counters, &shared.collection),
            State::Listed(records) => Ok(records
                .next()
                .map_or(Work::End, |record| Work::Row((record, nothing())))),
            State::Fetch { fetched } => {
                let Some(input) = inputs.first_mut().filter(|input| !input.is_at_end()) else {
                    return Ok(Work::End);
                };
                let row = match input.work(shared)? {
                    Work::Row(row) => row,
                    other => return Ok(other),
                };
                if *fetched || !row.1.is_empty() {
                    counters.already_fetched += 1;
                    return Ok(Work::Row(row));
                }
                let Some(bytes) = shared.collection.get(row.0) else {
                    return Ok(Work::Again);
                };
                counters.docs += 1;
                Ok(if shared.matches(bytes)? {
                    Work::Row((row.0, Arc::clone(bytes)))
                } else {
                    Work::Again
                })
            }
            State::Or { at, seen } => {
                let Some(input) = inputs.get_mut(*at) else {
                    return Ok(Work::End);
                };
                match input.work(shared)? {
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
                        Ok(if *at < inputs.len() {
                            Work::Again
                        } else {
                            Work::End
                        })
                    }
                }
            }
            State::Merge(merge) => merge.step(counters, inputs, shared),
            State::Sort {
                limit,
                keyed,
                sorted,
                done,
            } => {
                if let Some(rows) = sorted {
                    let row = rows.next();
                    *done = row.is_none();
                    return Ok(row.map_or(Work::End, Work::Row));
                }
                let work = match inputs.first_mut() {
                    Some(input) => input.work(shared)?,
                    None => Work::End,
                };
                match work {
                    Work::Row(row) => {
                        counters.sorted_bytes += u64::try_from(row.1.len()).unwrap_or(0);
                        keyed.push((key(&row, shared)?, row));
                        if let Some(limit) = *limit
                            && keyed.len() >= limit.saturating_mul(2).max(1024)
                        {
                            keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
                            keyed.truncate(limit);
                        }
                    }
                    Work::Again => {}
                    Work::End => {
                        let mut keyed = std::mem::take(keyed);
                        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
                        if let Some(limit) = *limit {
                            keyed.truncate(limit);
                        }
                        let rows: Vec<Row> = keyed.into_iter().map(|(_, row)| row).collect();
                        *sorted = Some(rows.into_iter());
                    }
                }
                Ok(Work::Again)
            }
            State::Skip(left) => {
                let work = next(inputs, shared)?;
                if *left > 0 && matches!(work, Work::Row(_)) {
                    *left -= 1;
                    counters.skipped += 1;
                    return Ok(Work::Again);
                }
                Ok(work)
            }
            State::Limit(left) => {
                if *left == 0 {
                    return Ok(Work::End);
                }
                let work = next(inputs, shared)?;
                if matches!(work, Work::Row(_)) {
                    *left -= 1;
                }
                Ok(work)
            }
            State::Project => next(inputs, shared),
        }
    }
}

/// A matcher of some of a filter's conditions.
fn only(matcher: &Matcher, children: &[usize]) -> Matcher {
    let all = conditions::children(matcher.predicate());
    matcher.with(
        children
            .iter()
            .filter_map(|child| all.get(*child).copied().cloned())
            .collect(),
    )
}

fn next(inputs: &mut [Stage], shared: &Shared) -> Result<Work, ServerError> {
    match inputs.first_mut() {
        Some(input) => input.work(shared),
        None => Ok(Work::End),
    }
}

fn nothing() -> Arc<[u8]> {
    Arc::from([])
}

/// The bytes by which a record is sorted.
fn key(row: &Row, shared: &Shared) -> Result<Vec<u8>, ServerError> {
    let bytes = if row.1.is_empty() {
        shared.collection.get(row.0)
    } else {
        Some(&row.1)
    };
    match (&shared.sort, bytes.and_then(|bytes| document(bytes))) {
        (Some(sort), Some(document)) => {
            sort.key(document, shared.collation.as_ref(), shared.score(row))
        }
        _ => Ok(Vec::new()),
    }
}

impl Merge {
    fn step(
        &mut self,
        counters: &mut Counters,
        inputs: &mut [Stage],
        shared: &Shared,
    ) -> Result<Work, ServerError> {
        let Some(at) = self.waiting.front().copied() else {
            return Ok(match self.heap.pop() {
                Some(Reverse((_, at, row))) => {
                    self.waiting.push_back(at);
                    Work::Row(row)
                }
                None => Work::End,
            });
        };
        let work = match inputs.get_mut(at) {
            Some(input) => input.work(shared)?,
            None => Work::End,
        };
        match work {
            Work::Row(row) => {
                counters.dups_tested += 1;
                if self.seen.insert(row.0) {
                    self.heap.push(Reverse((key(&row, shared)?, at, row)));
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

impl Indexed {
    fn step(&mut self, counters: &mut Counters, shared: &Shared) -> Result<Work, ServerError> {
        if self.done {
            return Ok(Work::End);
        }
        let Some(index) = shared.collection.index(&self.scan.name) else {
            self.done = true;
            return Ok(Work::End);
        };
        let met = self.walk.step(index);
        counters.seeks = self.walk.seeks;
        let entry = match met {
            Met::Entry(entry) => entry,
            Met::Outside => {
                counters.keys += 1;
                return Ok(Work::Again);
            }
            Met::Last | Met::End => {
                let behind = self.counts && self.walk.has_more_behind(index);
                counters.keys += u64::from(matches!(met, Met::Last) || behind);
                self.done = true;
                return Ok(Work::End);
            }
        };
        counters.keys += 1;
        let record = index::record_of(&entry);
        if let Some(seen) = &mut self.seen {
            counters.dups_tested += 1;
            if !seen.insert(record) {
                counters.dups_dropped += 1;
                return Ok(Work::Again);
            }
        }
        let stored = || shared.collection.get(record);
        if self.by_id {
            self.done = true;
            counters.docs += 1;
            return Ok(stored().map_or(Work::End, |bytes| Work::Row((record, Arc::clone(bytes)))));
        }
        if let Some(tests) = &self.tests {
            // The keys hold what is tested here, but only in order, not as values; the record has them.
            let passes = match stored().and_then(|bytes| document(bytes)) {
                Some(document) => tests.matches(document)?,
                None => false,
            };
            if !passes {
                return Ok(Work::Again);
            }
        }
        if self.scan.covers && !self.counts {
            let Some(bytes) = stored() else {
                return Ok(Work::Again);
            };
            return Ok(Work::Row((record, self.made_of_key(bytes, index, shared))));
        }
        Ok(Work::Row((record, nothing())))
    }

    /// The values of a key as a document, in the order of the index. A missing one is kept as null, and so it is here.
    fn made_of_key(&self, bytes: &Arc<[u8]>, index: &index::Index, shared: &Shared) -> Arc<[u8]> {
        let Some(paths) = shared.made_of.as_deref().filter(|paths| !paths.is_empty()) else {
            return nothing();
        };
        let Some(stored) = document(bytes) else {
            return nothing();
        };
        let mut made = bson::Document::new();
        let wanted = |path: &&Path| paths.contains(path);
        let own: Vec<Path> = match &self.scan.path {
            Some(path) => vec![Path::new(path)],
            None => index.spec.paths.clone(),
        };
        for path in own.iter().filter(wanted) {
            let value = path
                .get_plain(stored)
                .and_then(|value| bson::Bson::try_from(value).ok())
                .unwrap_or(bson::Bson::Null);
            place(&mut made, path.as_str(), value);
        }
        RawDocumentBuf::try_from(&made).map_or_else(|_| nothing(), |made| made.into_bytes().into())
    }
}

/// Puts a value at a dotted path.
fn place(document: &mut bson::Document, path: &str, value: bson::Bson) {
    match path.split_once('.') {
        None => {
            document.insert(path, value);
        }
        Some((head, rest)) => {
            let inner = document
                .entry(head.to_owned())
                .or_insert_with(|| bson::Bson::Document(bson::Document::new()));
            if let bson::Bson::Document(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}
