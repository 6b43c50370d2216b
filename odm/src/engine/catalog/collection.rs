//! One collection at one moment: records and index entries, as persistent maps.
//!
//! A clone is a snapshot and costs a few pointers. Whoever holds the collection's [`Locks`] may publish a changed
//! clone; nothing here takes them.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use bson::raw::RawDocument;

use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::options::Options;
use crate::engine::index::multikey::Arrays;
use crate::engine::index::tree::records::{Records, Stamp, Stored};
use crate::engine::index::tree::{Leaves, Tree};
use crate::engine::index::{Index, Keys, RecordId};
use crate::error::ServerError;
use crate::value::text::Fields;

/// The id of a transaction, for the locks that it holds.
pub(crate) type Owner = u64;

/// What uncommitted transactions have written: nobody else may, until they end.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    pub(crate) records: HashMap<RecordId, Owner>,
    /// Keys of unique indexes that were added or removed, by index name.
    pub(crate) keys: HashMap<(String, Vec<u8>), Owner>,
}

impl Locks {
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.keys.is_empty()
    }

    pub(crate) fn release(&mut self, owner: Owner) {
        self.records.retain(|_, held| *held != owner);
        self.keys.retain(|_, held| *held != owner);
    }
}

/// What all versions of a collection share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    next: AtomicU64,
    locks: Mutex<Locks>,
    pub(crate) scans: Scans,
}

/// How many commands read the whole of a collection for want of an index.
#[derive(Debug, Default)]
pub(crate) struct Scans {
    pub(crate) total: AtomicI64,
    /// Of those, how many opened a cursor that stays open at the end.
    pub(crate) tailable: AtomicI64,
}

impl Shared {
    /// The collection's writer lock. It is held for the length of one command, never across a wait.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Locks> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer lock, unless somebody holds it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Locks>> {
        match self.locks.try_lock() {
            Ok(locks) => Some(locks),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// A record id that no other record ever had.
    pub(crate) fn next_record(&self) -> RecordId {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Collection {
    pub(crate) namespace: Namespace,
    pub(crate) uuid: [u8; 16],
    pub(crate) options: Arc<Options>,
    /// Changes with the indexes and the options, not with the data.
    pub(crate) version: u64,
    pub(crate) shared: Arc<Shared>,
    records: Tree<Records>,
    pub(crate) indexes: Vec<Index>,
    bytes: u64,
    /// How many writes made it what it is.
    writes: Stamp,
}

/// What writing one document does to the indexes.
#[derive(Debug)]
pub(crate) struct Change {
    /// For each index, up to the last that changes: keys that go, keys that come, whether it becomes multikey.
    pub(crate) indexes: Vec<IndexChange>,
}

#[derive(Debug, Default)]
pub(crate) struct IndexChange {
    pub(crate) removed: Keys,
    pub(crate) added: Keys,
    arrays: Arrays,
}

impl Change {
    /// How many keys go and come.
    pub(crate) fn keys(&self) -> usize {
        let keys = |change: &IndexChange| change.removed.len() + change.added.len();
        self.indexes.iter().map(keys).sum()
    }

    /// The half that takes keys away.
    pub(crate) fn removals(&self) -> Self {
        self.half(|change| IndexChange {
            removed: change.removed.clone(),
            added: Keys::new(),
            arrays: Arrays::default(),
        })
    }

    /// The half that adds keys.
    pub(crate) fn additions(&self) -> Self {
        self.half(|change| IndexChange {
            removed: Keys::new(),
            added: change.added.clone(),
            arrays: change.arrays.clone(),
        })
    }

    fn half(&self, pick: impl Fn(&IndexChange) -> IndexChange) -> Self {
        Self {
            indexes: self.indexes.iter().map(pick).collect(),
        }
    }
}

impl Collection {
    pub(crate) fn new(
        namespace: Namespace,
        uuid: [u8; 16],
        options: Options,
        indexes: Vec<Index>,
    ) -> Self {
        Self {
            namespace,
            uuid,
            options: Arc::new(options),
            version: 0,
            shared: Arc::default(),
            records: Tree::default(),
            indexes,
            bytes: 0,
            writes: 0,
        }
    }

    /// The name under which a server would have made it, before it took the place of another.
    pub(crate) fn made_as(&self, by: &str) -> Namespace {
        let Namespace {
            database,
            collection,
        } = &self.namespace;
        let id = bson::Uuid::from_bytes(self.uuid);
        Namespace::new(database, &format!("tmp.{by}.{id}.{collection}"))
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The size of all documents.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The record's document, where it lies.
    pub(crate) fn stored(&self, record: RecordId) -> Option<Stored<'_>> {
        Stored::at(self.records.find(&record)?)
    }

    pub(crate) fn get(&self, record: RecordId) -> Option<&[u8]> {
        self.stored(record).map(|stored| stored.bytes)
    }

    /// The document of a record.
    pub(crate) fn document(&self, record: RecordId) -> Option<&RawDocument> {
        self.get(record).and_then(document)
    }

    pub(crate) fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.spec.name == name)
    }

    /// What the text index reads, hidden or not.
    pub(crate) fn text_fields(&self) -> Option<&Fields> {
        self.indexes
            .iter()
            .find_map(|index| Some(&index.spec.text.as_ref()?.fields))
    }

    /// The leaf in which a walk from a bound begins, and the place in it.
    pub(crate) fn leaves(
        &self,
        from: Bound<&RecordId>,
        backwards: bool,
    ) -> Option<(Leaves<Records>, usize)> {
        self.records.leaves(from, backwards)
    }

    /// All records with their documents, in their order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Stored<'_>> {
        self.records.places().filter_map(Stored::at)
    }

    pub(crate) fn oldest(&self) -> Option<RecordId> {
        self.all().next().map(|stored| stored.record)
    }

    /// What putting `after` in the place of `before` does to the indexes. Uniqueness is not checked yet.
    pub(crate) fn change(
        &self,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<Change, ServerError> {
        // Most keys are of one value or two.
        let mut buffer = Vec::with_capacity(48);
        let mut keys = |index: &Index, document: Option<&RawDocument>| match document {
            Some(document) => index.keys(document, &mut buffer),
            None => Ok((Keys::new(), Arrays::default())),
        };
        let mut indexes = Vec::new();
        for (at, index) in self.indexes.iter().enumerate() {
            if let (Some(before), Some(after)) = (before, after)
                && index.is_untouched(before, after)
            {
                continue;
            }
            if indexes.is_empty() {
                indexes.reserve_exact(self.indexes.len());
            }
            indexes.resize_with(at, IndexChange::default);
            // What is stored has keys, or it would not be stored: if not, entries would stay behind.
            let (removed, _) = keys(index, before)?;
            let (added, arrays) = keys(index, after)?;
            let change = if removed.is_empty() || added.is_empty() {
                IndexChange {
                    removed,
                    added,
                    arrays,
                }
            } else {
                IndexChange {
                    removed: difference(&removed, &added),
                    added: difference(&added, &removed),
                    arrays,
                }
            };
            indexes.push(change);
        }
        Ok(Change { indexes })
    }

    /// Refuses a change that would give a unique key to two records.
    pub(crate) fn check_unique(
        &self,
        change: &Change,
        record: RecordId,
        after: &RawDocument,
    ) -> Result<(), ServerError> {
        for (index, change) in self.indexes.iter().zip(&change.indexes) {
            if !index.spec.refuses_duplicates() {
                continue;
            }
            for key in &change.added {
                if index.holds(key, Some(record)) {
                    return Err(index.duplicate(&self.namespace.to_string(), after, key));
                }
            }
        }
        Ok(())
    }

    /// Makes the change: `after` is the record's new document, or nothing.
    pub(crate) fn apply(&mut self, change: &Change, record: RecordId, after: Option<&[u8]>) {
        for (index, change) in self.indexes.iter_mut().zip(&change.indexes) {
            for key in &change.removed {
                index.remove(key, record);
            }
            for key in &change.added {
                index.insert(key, record);
            }
            if !index.arrays.contains_all(&change.arrays) {
                index.arrays.add_all(change.arrays.clone());
            }
        }
        let length = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        self.writes += 1;
        let stamp = self.writes;
        let before = match after {
            Some(after) => {
                self.bytes += length(after.len());
                self.records
                    .edit(&record, |leaf| leaf.insert(record, stamp, after))
            }
            None => self.records.edit(&record, |leaf| leaf.remove(record)),
        };
        if let Some(before) = before {
            self.bytes -= length(before);
        }
    }

    /// Whether a capped collection has outgrown its limits.
    pub(crate) fn is_overfull(&self) -> bool {
        self.options.capped.is_some_and(|capped| {
            self.len() > 1
                && (self.bytes > capped.size
                    || capped
                        .max
                        .is_some_and(|max| u64::try_from(self.len()).unwrap_or(u64::MAX) > max))
        })
    }

    /// The entries of a new index over all records.
    pub(crate) fn build(&self, mut index: Index) -> Result<Index, ServerError> {
        let mut buffer = Vec::new();
        for Stored { record, bytes, .. } in self.all() {
            let Some(document) = document(bytes) else {
                continue;
            };
            let (keys, arrays) = index.keys(document, &mut buffer)?;
            for key in &keys {
                if index.spec.unique && index.holds(key, Some(record)) {
                    return Err(index.duplicate(&self.namespace.to_string(), document, key));
                }
                index.insert(key, record);
            }
            index.arrays.add_all(arrays);
        }
        Ok(index)
    }
}

/// The keys of `one` that `other` lacks; both are sorted.
fn difference(one: &Keys, other: &Keys) -> Keys {
    one.iter()
        .filter(|key| other.binary_search(key).is_err())
        .cloned()
        .collect()
}

/// The document that a record's bytes are.
pub(crate) fn document(bytes: &[u8]) -> Option<&RawDocument> {
    RawDocument::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, doc, rawdoc};

    use super::{Change, Collection, document};
    use crate::engine::catalog::namespace::Namespace;
    use crate::engine::catalog::options::Options;
    use crate::engine::index::Index;
    use crate::engine::index::spec::Spec;
    use crate::error::Code;

    #[test]
    fn a_record_that_an_index_can_not_key_is_not_taken_out_in_silence() {
        let hashed: RawDocumentBuf = rawdoc! {"key": {"a": "hashed"}, "name": "a_hashed"};
        let index = Index::new(Spec::parse(&hashed, None, false).unwrap().into());
        let namespace = Namespace::new("test", "c");
        let mut collection = Collection::new(namespace, [0; 16], Options::none(), vec![index]);
        let record = collection.shared.next_record();
        let stored: RawDocumentBuf = (&doc! {"_id": 1, "a": [1]}).try_into().unwrap();
        // As a fault elsewhere would leave it: a record without entries.
        let nothing = Change {
            indexes: Vec::new(),
        };
        collection.apply(&nothing, record, Some(stored.as_bytes()));

        let before = collection.get(record).and_then(document);
        let error = collection.change(before, None).unwrap_err();
        assert_eq!(error.code(), Code::location(16766));
    }
}
