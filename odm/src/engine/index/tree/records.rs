//! A leaf of records: ids and documents.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::engine::index::RecordId;
use crate::engine::index::tree::Leaf;

/// So many records a leaf holds.
const MOST: usize = 64;

/// Records in the order of their ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records(Vec<(RecordId, Arc<[u8]>)>);

impl Records {
    pub(crate) fn get(&self, at: usize) -> Option<&(RecordId, Arc<[u8]>)> {
        self.0.get(at)
    }

    /// Puts a document in the place of the record's, which is the answer.
    pub(crate) fn insert(&mut self, record: RecordId, document: Arc<[u8]>) -> Option<Arc<[u8]>> {
        match self.find(&record) {
            Ok(at) => {
                let (_, place) = self.0.get_mut(at)?;
                Some(std::mem::replace(place, document))
            }
            Err(at) => {
                self.0.insert(at, (record, document));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, record: RecordId) -> Option<Arc<[u8]>> {
        let at = self.find(&record).ok()?;
        Some(self.0.remove(at).1)
    }
}

impl Leaf for Records {
    type Key = RecordId;
    type Edge = RecordId;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn edge(&self) -> Option<RecordId> {
        self.0.first().map(|(record, _)| *record)
    }

    fn compare(edge: &RecordId, key: &RecordId) -> Ordering {
        edge.cmp(key)
    }

    fn find(&self, key: &RecordId) -> Result<usize, usize> {
        self.0.binary_search_by(|(record, _)| record.cmp(key))
    }

    fn is_too_large(&self) -> bool {
        self.0.len() > MOST
    }

    fn fits(&self, other: &Self) -> bool {
        self.0.len() + other.0.len() <= MOST / 2
    }

    fn split(&mut self, at: usize) -> Self {
        let right = self.0.split_off(at);
        self.0.shrink_to_fit();
        Self(right)
    }

    fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }
}
