//! Runs a plan, step by step: each unit of work yields a record, or nothing yet, or the end.
//!
//! The units are MongoDB's, so that plan trials and the counters of `explain` agree with it. A caller that only needs
//! results lets a step do many units in one call. An execution owns its snapshot, so a cursor can keep it between
//! commands.

mod collection_scan;
mod index_scan;
mod near;
mod sorter;
mod stage;
mod walk;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::{RawBson, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::meta::Known;
use odm_language::matcher::{Matcher, Predicate};
use odm_language::value::collation::Collator;
use odm_language::value::path::Path;

use crate::catalog::collection::{Version, document};
use crate::cursor::query::Deadline;
use crate::cursor::sort::Sort;
use crate::index::RecordId;
use crate::index::tree::records::{Content, Stored};
use crate::pipeline::sort::ScoredBy;
use crate::planner::conditions;
use crate::planner::geo::NearPlan;
use crate::planner::plan::Node;

pub(crate) use self::sorter::SortMemory;
pub(crate) use self::stage::Stage;

/// A record with its document, or with a document made of index keys if the query is covered.
pub(crate) type Row = (RecordId, Content);

/// The outcome of one unit of work.
#[derive(Debug)]
pub(crate) enum Work<R = Row> {
    Row(R),
    /// No row yet.
    Again,
    End,
}

/// A record as one step passes it to the next. Documents are borrowed, and cloned only for results.
type Lent<'a> = (RecordId, Bytes<'a>);

/// A record's document, as far as it was read.
#[derive(Debug, Clone, Copy)]
enum Bytes<'a> {
    /// Not read yet.
    None,
    /// The stored document.
    Stored(Stored<'a>),
    /// A document made of index keys.
    Made(&'a Arc<[u8]>),
    /// A document of either kind that a step has kept.
    Kept(&'a Content),
}

impl<'a> Bytes<'a> {
    fn get(self) -> Option<&'a [u8]> {
        match self {
            Self::None => None,
            Self::Stored(stored) => Some(stored.bytes),
            Self::Made(bytes) => Some(bytes),
            Self::Kept(content) => Some(content),
        }
    }

    fn keep(self) -> Content {
        match self {
            Self::None => Content::NONE,
            Self::Stored(stored) => stored.keep(),
            Self::Made(bytes) => Content::own(Arc::clone(bytes)),
            Self::Kept(content) => content.clone(),
        }
    }
}

/// The state that the steps of a plan share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) collection: Version,
    pub(crate) matcher: Option<Arc<Matcher>>,
    /// The matcher for documents found by an index, if it evaluates the conditions in another order.
    pub(crate) behind_index: Option<Arc<Matcher>>,
    pub(crate) sort: Option<Arc<Sort>>,
    pub(crate) collation: Option<Collator>,
    /// The paths of a covered result.
    pub(crate) made_of: Option<Arc<[Path]>>,
    /// How the memory of the sort is counted, if it is limited.
    pub(crate) memory: Option<SortMemory>,
    /// The `$text` score of each record.
    pub(crate) scores: Option<Arc<HashMap<RecordId, f64>>>,
    /// The search of a `$near`, which measures distances.
    pub(crate) near: Option<Arc<NearPlan>>,
    /// The index keys by which records were found, if the query returns them.
    pub(crate) keys: Option<Arc<Mutex<FoundBy>>>,
}

/// The index that each record was found by, and its key there.
pub(crate) type FoundBy = HashMap<RecordId, (String, Vec<u8>)>;

impl Shared {
    fn keys(&self) -> Option<MutexGuard<'_, FoundBy>> {
        let keys = self.keys.as_ref()?;
        Some(keys.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records the index and key by which a record was first found.
    fn found_by(&self, record: RecordId, index: &str, key: &[u8]) {
        if let Some(mut keys) = self.keys() {
            keys.entry(record)
                .or_insert_with(|| (index.to_owned(), key.to_vec()));
        }
    }

    /// Forgets the key of a record that does not match.
    fn forget(&self, record: RecordId) {
        if let Some(mut keys) = self.keys() {
            keys.remove(&record);
        }
    }

    /// The key by which a record was found, as a document; `None` if no index found it.
    fn key_of(&self, record: RecordId) -> Result<Option<RawDocumentBuf>, ServerError> {
        let found = self.keys().and_then(|mut keys| keys.remove(&record));
        let shown = found.and_then(|(name, key)| {
            let stored = self.collection.stored(record)?;
            let index = self.collection.index(&name)?;
            Some(index.shown_key(document(stored.bytes)?, &key))
        });
        Ok(shown.transpose()?.flatten())
    }

    /// The score that a record is sorted by.
    fn rank(&self, record: RecordId, bytes: &[u8]) -> Option<f64> {
        match self.sort.as_ref()?.scored_by {
            ScoredBy::Text => self.score(record, bytes),
            ScoredBy::Distance => {
                let near = self.near.as_ref()?;
                let stored = document(bytes).or_else(|| self.collection.document(record))?;
                near.nearest(stored)
                    .map(|(distance, _)| near.shown(distance))
            }
        }
    }

    /// The text score of a record.
    fn score(&self, record: RecordId, bytes: &[u8]) -> Option<f64> {
        let score = self.scores.as_ref()?.get(&record)?;
        let matcher = self.matcher.as_ref()?;
        // A record found by another branch of an `$or` may contain a term and still not match the `$text` condition.
        let accepted = matcher.text()?.listed
            || document(bytes)
                .is_some_and(|document| matcher.matches_by_text(document).unwrap_or(false));
        accepted.then_some(*score)
    }

    /// The conditions of one branch, if the filter is a single `$or`: other branches find the other documents.
    fn alternative(&self, at: usize) -> Option<Matcher> {
        let matcher = self.matcher.as_deref()?;
        let children = conditions::children(matcher.predicate());
        let [Predicate::Or(group)] = children.as_slice() else {
            return None;
        };
        let own = conditions::children(group.evaluated().nth(at)?);
        let own = matcher.with(own.into_iter().cloned().collect());
        Some(own.behind_index().unwrap_or(own))
    }

    /// Whether a document found by an index matches.
    fn matches_fetched(&self, bytes: &[u8]) -> Result<bool, ServerError> {
        match &self.behind_index {
            None => self.matches(bytes),
            Some(matcher) => matcher.matches_bytes(bytes),
        }
    }

    fn matches(&self, bytes: &[u8]) -> Result<bool, ServerError> {
        match &self.matcher {
            None => Ok(true),
            Some(matcher) => matcher.matches_bytes(bytes),
        }
    }
}

/// A running plan.
#[derive(Debug)]
pub(crate) struct Execution {
    shared: Shared,
    pub(crate) root: Stage,
    pub(crate) deadline: Deadline,
}

impl Execution {
    pub(crate) fn new(node: &Node, shared: Shared, deadline: Deadline) -> Self {
        Self {
            root: Stage::new(node, &shared, true),
            shared,
            deadline,
        }
    }

    /// The key by which a record was found, if the query returns keys.
    pub(crate) fn key_of(&self, row: &Row) -> Result<Option<RawDocumentBuf>, ServerError> {
        self.shared.key_of(row.0)
    }

    /// The metadata of a found record.
    pub(crate) fn known(&self, row: &Row) -> Known {
        let near = self.shared.near.as_ref();
        let found = near.and_then(|near| {
            let (distance, point) = near.nearest(document(&row.1)?)?;
            Some((near.shown(distance), RawBson::from(point)))
        });
        let (distance, point) = found.unzip();
        Known {
            text_score: self.shared.score(row.0, &row.1),
            record: i64::try_from(row.0).ok(),
            sort_key: None,
            distance,
            point,
        }
    }

    /// Whether text scores are known.
    pub(crate) fn is_scored(&self) -> bool {
        self.shared.scores.is_some()
    }

    /// One unit of work.
    pub(crate) fn work(&mut self) -> Result<Work, ServerError> {
        self.advance(1)
    }

    /// Works until there is a row or the end, for at most `most` units.
    fn advance(&mut self, most: u64) -> Result<Work, ServerError> {
        let mut units = most;
        let tally = self.deadline.tally().map(Arc::clone);
        let before = tally.as_ref().map(|_| self.root.examined());
        let work = match self.root.advance(&self.shared, &mut units)? {
            Work::Row((record, bytes)) => Work::Row((record, bytes.keep())),
            Work::Again => Work::Again,
            Work::End => Work::End,
        };
        self.deadline.check(most - units)?;
        if let (Some(tally), Some((keys, documents))) = (tally, before) {
            let (all_keys, all_documents) = self.root.examined();
            tally.add((all_keys - keys, all_documents - documents));
        }
        Ok(work)
    }

    /// Continues in a newer version of the collection.
    pub(crate) fn resume(&mut self, collection: Version) -> Result<(), ServerError> {
        self.root.resume(&collection)?;
        self.shared.collection = collection;
        Ok(())
    }

    /// How many index keys and documents were examined so far.
    pub(crate) fn examined(&self) -> (u64, u64) {
        self.root.examined()
    }
}

impl Iterator for Execution {
    type Item = Result<Row, ServerError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance(Deadline::UNITS) {
                Ok(Work::Row(row)) => return Some(Ok(row)),
                Ok(Work::Again) => {}
                Ok(Work::End) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
