//! One collection at one moment: records and index entries, as persistent maps.
//!
//! A clone is a snapshot and costs a few pointers. Only the holder of the collection's [`Locks`] may publish a changed
//! clone; the methods here do not take them.

mod change;
#[cfg(test)]
mod laws;

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use bson::Document;
use bson::raw::RawDocument;
use odm_language::error::ServerError;
use odm_language::value::text::Fields;

use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::catalog::spin_lock;
use crate::index::tree::records::{Records, Stamp, Stored};
use crate::index::tree::{Leaves, Tree, TreePath};
use crate::index::{Index, RecordId, entry};

pub(crate) use self::change::EntryChanges;

/// The id of a transaction, for the locks that it holds.
pub(crate) type Owner = u64;

/// The records and keys that uncommitted transactions have written: other writers conflict until those end.
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

/// The state that all versions of a collection share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    next: AtomicU64,
    locks: Mutex<Locks>,
    pub(crate) scans: Scans,
}

/// How many commands scanned the whole collection without an index.
#[derive(Debug, Default)]
pub(crate) struct Scans {
    pub(crate) total: AtomicI64,
    /// How many of them opened a tailable cursor.
    pub(crate) tailable: AtomicI64,
}

impl Shared {
    /// The collection's writer lock. It is held for at most one command, never across a wait.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Locks> {
        spin_lock::lock(&self.locks)
    }

    /// The writer locks of several collections, taken in the order of their addresses to avoid deadlocks. Names would
    /// not give a stable order: a rename can change them while a thread waits.
    pub(crate) fn lock_all<'s>(
        shared: impl IntoIterator<Item = &'s Arc<Self>>,
    ) -> Vec<MutexGuard<'s, Locks>> {
        let mut shared: Vec<_> = shared.into_iter().collect();
        shared.sort_by_key(|shared| Arc::as_ptr(shared));
        shared.iter().map(|shared| shared.lock()).collect()
    }

    /// The writer lock; `None` if it is held.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Locks>> {
        match self.locks.try_lock() {
            Ok(locks) => Some(locks),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// A new record id, never used before.
    pub(crate) fn next_record(&self) -> RecordId {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A collection that readers and the published state hold. Unlike `std::sync::Arc`, this pointer checks uniqueness
/// without a locked instruction, and every change of one document needs that check.
pub(crate) type Version = triomphe::Arc<Collection>;

#[derive(Debug, Clone)]
pub struct Collection {
    pub namespace: Namespace,
    pub(crate) uuid: [u8; 16],
    pub(crate) options: Arc<Options>,
    /// Changes with the indexes and the options, not with the data.
    pub(crate) version: u64,
    pub(crate) shared: Arc<Shared>,
    records: Tree<Records>,
    pub(crate) indexes: Vec<Index>,
    bytes: u64,
    /// How many writes have been applied.
    writes: Stamp,
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

    /// The temporary name under which MongoDB would have created it, before the rename over another collection.
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

    /// The record's stored document.
    pub(crate) fn stored(&self, record: RecordId) -> Option<Stored<'_>> {
        Stored::at(self.records.find(&record)?)
    }

    /// The record's stored document, and the path to it in the tree.
    pub(crate) fn locate(&self, record: RecordId) -> Option<(Stored<'_>, TreePath)> {
        let (place, tree_path) = self.records.locate(&record)?;
        Some((Stored::at(place)?, tree_path))
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

    /// The fields of the text index, hidden or not.
    pub(crate) fn text_fields(&self) -> Option<&Fields> {
        self.indexes
            .iter()
            .find_map(|index| Some(&index.spec.text.as_ref()?.fields))
    }

    /// The leaves of a walk that begins at a bound, and the position in the first leaf.
    pub(crate) fn leaves(
        &self,
        from: Bound<&RecordId>,
        backwards: bool,
    ) -> Option<(Leaves<Records>, usize)> {
        self.records.leaves(from, backwards)
    }

    /// The options that it was created with, as `listCollections` returns them.
    pub fn options(&self) -> &Document {
        &self.options.document
    }

    /// Whether it has a default collation.
    pub fn has_collation(&self) -> bool {
        self.options.collation.is_some()
    }

    /// Its indexes, as `listIndexes` returns them.
    pub fn indexes(&self) -> impl Iterator<Item = &Document> {
        self.indexes.iter().map(|index| &index.spec.document)
    }

    /// Its UUID.
    pub fn uuid(&self) -> [u8; 16] {
        self.uuid
    }

    /// The bytes of its documents, in the order of their insertion.
    pub fn documents(&self) -> impl Iterator<Item = &[u8]> {
        self.all().map(|stored| stored.bytes)
    }

    /// All records with their documents, in record order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Stored<'_>> {
        self.records.places().filter_map(Stored::at)
    }

    pub(crate) fn oldest(&self) -> Option<RecordId> {
        self.all().next().map(|stored| stored.record)
    }

    /// The index changes of replacing `before` with `after`. Does not check uniqueness.
    pub(crate) fn change(
        &self,
        record: RecordId,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<EntryChanges, ServerError> {
        let mut change = EntryChanges::nothing(record);
        self.complete(&mut change, 0, before, after)?;
        Ok(change)
    }

    /// Adds the key changes of all indexes except the first `known` ones, which `change` has already.
    pub(crate) fn complete(
        &self,
        change: &mut EntryChanges,
        known: usize,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<(), ServerError> {
        for (at, index) in self.indexes.iter().enumerate().skip(known) {
            if let (Some(before), Some(after)) = (before, after)
                && index.is_untouched(before, after)
            {
                continue;
            }
            change.add(at, index, before, after)?;
        }
        Ok(())
    }

    /// Refuses a change that would give a unique key to two records.
    pub(crate) fn check_unique(
        &self,
        change: &EntryChanges,
        after: &RawDocument,
    ) -> Result<(), ServerError> {
        for part in change.parts().filter(|part| part.comes) {
            let Some(index) = self.indexes.get(part.index) else {
                continue;
            };
            if index.spec.refuses_duplicates() && index.holds(part.key(), Some(change.record)) {
                return Err(index.duplicate(&self.namespace.to_string(), after, part.key()));
            }
        }
        Ok(())
    }

    /// Applies the change. `after` is the record's new document; `None` removes the record.
    pub(crate) fn apply(&mut self, change: &EntryChanges, after: Option<&[u8]>) {
        for part in change.parts() {
            let Some(index) = self.indexes.get_mut(part.index) else {
                continue;
            };
            if part.comes {
                index.insert(part.entry);
            } else {
                let tree_path = change.first_at.as_ref().filter(|_| part.index == 0);
                index.remove(part.entry, tree_path);
            }
        }
        for (at, arrays) in change.arrays() {
            if let Some(index) = self.indexes.get_mut(*at)
                && !index.arrays.contains_all(arrays)
            {
                index.arrays.add_all(arrays.clone());
            }
        }
        let length = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        self.writes += 1;
        let (record, stamp) = (change.record, self.writes);
        let tree_path = change.at.as_ref();
        let before = match after {
            Some(after) => {
                self.bytes += length(after.len());
                self.records
                    .edit_at(&record, tree_path, |leaf, at| match at {
                        Some(at) => Some(leaf.replace_at(at, stamp, after)),
                        None => leaf.insert(record, stamp, after),
                    })
            }
            None => self
                .records
                .edit_at(&record, tree_path, |leaf, at| match at {
                    Some(at) => Some(leaf.remove_at(at)),
                    None => leaf.remove(record),
                }),
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
        // MongoDB sorts all keys before it checks for duplicates, so the error names the least duplicate key.
        let mut doubled = None;
        for Stored { record, bytes, .. } in self.all() {
            let Some(document) = document(bytes) else {
                continue;
            };
            let (keys, arrays) = index.keys(document, &mut buffer)?;
            for key in &keys {
                if !(index.spec.unique && index.holds(key, Some(record))) {
                    index.insert(&entry(key, record));
                } else if doubled.as_ref().is_none_or(|(least, _)| key < least) {
                    doubled = Some((key.clone(), document));
                }
            }
            index.arrays.add_all(arrays);
        }
        match doubled {
            Some((key, document)) => {
                Err(index.duplicate(&self.namespace.to_string(), document, &key))
            }
            None => Ok(index),
        }
    }
}

/// A record's bytes as a document.
pub(crate) fn document(bytes: &[u8]) -> Option<&RawDocument> {
    RawDocument::from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, doc, rawdoc};

    use super::{Collection, EntryChanges, document};
    use crate::catalog::namespace::Namespace;
    use crate::catalog::options::Options;
    use crate::index::Index;
    use crate::index::spec::Spec;
    use odm_language::error::Code;

    #[test]
    fn removing_a_record_without_its_index_key_fails() {
        let hashed: RawDocumentBuf = rawdoc! {"key": {"a": "hashed"}, "name": "a_hashed"};
        let index = Index::new(Spec::parse(&hashed).unwrap().into());
        let namespace = Namespace::new("test", "c");
        let mut collection = Collection::new(namespace, [0; 16], Options::none(), vec![index]);
        let record = collection.shared.next_record();
        let stored: RawDocumentBuf = (&doc! {"_id": 1, "a": [1]}).try_into().unwrap();
        // A record without index entries, as a bug elsewhere could leave it.
        collection.apply(&EntryChanges::nothing(record), Some(stored.as_bytes()));

        let before = collection.get(record).and_then(document);
        let error = collection.change(record, before, None).unwrap_err();
        assert_eq!(error.code(), Code::location(16766));
    }
}
