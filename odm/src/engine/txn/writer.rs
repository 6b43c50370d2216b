//! Writing documents: conflicts first, then uniqueness, then the change.

use std::borrow::Cow;

use bson::raw::{RawDocument, RawDocumentBuf};

use crate::engine::catalog::collection::{Change, Collection, Locks, Owner, document};
use crate::engine::catalog::draft::Draft;
use crate::engine::index::{Key, RecordId};
use crate::engine::txn::write_conflict;
use crate::error::ServerError;

/// What a transaction adds to a write: who writes, and the state that everybody else sees.
#[derive(Debug)]
pub(crate) struct Inside<'a> {
    pub(crate) owner: Owner,
    /// The collection as it was when the transaction began; `None` if the transaction made it.
    pub(crate) snapshot: Option<&'a Collection>,
    pub(crate) published: Option<&'a Collection>,
    /// The records written so far.
    pub(crate) written: &'a mut std::collections::BTreeSet<RecordId>,
}

/// One collection, open for writing.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) draft: &'a mut Draft,
    pub(crate) locks: &'a mut Locks,
    pub(crate) inside: Option<Inside<'a>>,
    pub(crate) changed: bool,
    /// Documents that the validator would refuse are let pass.
    pub(crate) bypass_validation: bool,
}

impl Writer<'_> {
    /// The collection with all that was written so far.
    pub(crate) fn collection(&mut self) -> &Collection {
        self.draft.collection()
    }

    /// The same, once nothing is held back.
    pub(crate) fn settled(&self) -> &Collection {
        self.draft.settled()
    }

    pub(crate) fn settle(&mut self) {
        self.draft.settle();
    }

    /// Stores a new document, which has its `_id` already.
    pub(crate) fn insert(&mut self, document: &RawDocument) -> Result<RecordId, ServerError> {
        let collection = self.collection();
        let record = collection.shared.next_record();
        let capped = collection.options.capped.is_some();
        self.write(record, true, Some(Cow::Borrowed(document.as_bytes())))?;
        while capped && self.collection().is_overfull() {
            let Some(oldest) = self.collection().oldest() else {
                break;
            };
            self.remove(oldest)?;
        }
        Ok(record)
    }

    /// Puts another document in the place of a record's.
    pub(crate) fn replace(
        &mut self,
        record: RecordId,
        document: RawDocumentBuf,
    ) -> Result<(), ServerError> {
        self.write(record, false, Some(Cow::Owned(document.into_bytes())))
    }

    /// Takes a record out, if it is there.
    pub(crate) fn remove(&mut self, record: RecordId) -> Result<(), ServerError> {
        self.write(record, false, None)
    }

    /// Whether somebody else's uncommitted write, or a newer committed one, stands in the way.
    pub(crate) fn check_record(&self, record: RecordId) -> Result<(), ServerError> {
        if self.is_locked(self.locks.records.get(&record)) {
            return Err(write_conflict());
        }
        if let Some(inside) = &self.inside
            && !inside.written.contains(&record)
        {
            // Published versions follow one another, so that a record's stamp tells which write it is of.
            let stamp = |version: Option<&Collection>| version?.stored(record)?.stamp();
            if stamp(inside.snapshot) != stamp(inside.published) {
                return Err(write_conflict());
            }
        }
        Ok(())
    }

    fn is_locked(&self, holder: Option<&Owner>) -> bool {
        holder
            .is_some_and(|holder| Some(*holder) != self.inside.as_ref().map(|inside| inside.owner))
    }

    fn write(
        &mut self,
        record: RecordId,
        is_new: bool,
        after: Option<Cow<'_, [u8]>>,
    ) -> Result<(), ServerError> {
        self.draft.settle();
        let collection = self.draft.settled();
        let before_document = if is_new {
            None
        } else {
            collection.document(record)
        };
        let after_document = after.as_deref().and_then(document);
        if before_document.is_none() && after_document.is_none() {
            return Ok(());
        }
        if let Some(after) = after_document
            && !self.bypass_validation
        {
            collection.options.validate(after, before_document)?;
        }
        self.check_record(record)?;
        let change = collection.change(before_document, after_document)?;
        self.check_keys(&change, record)?;
        if let Some(after) = after_document {
            collection.check_unique(&change, record, after)?;
        }
        self.take_locks(&change, record);
        self.draft.apply(change, record, after);
        self.changed = true;
        Ok(())
    }

    fn check_keys(&self, change: &Change, record: RecordId) -> Result<(), ServerError> {
        if self.inside.is_none() && self.locks.keys.is_empty() {
            return Ok(());
        }
        let collection = self.draft.settled();
        for (index, change) in collection.indexes.iter().zip(&change.indexes) {
            if !index.spec.refuses_duplicates() {
                continue;
            }
            for key in change.added.iter().chain(&change.removed) {
                let name = (index.spec.name.clone(), key.to_vec());
                if self.is_locked(self.locks.keys.get(&name)) {
                    return Err(write_conflict());
                }
            }
            let Some(inside) = &self.inside else {
                continue;
            };
            let published = inside
                .published
                .and_then(|published| published.index(&index.spec.name));
            if let Some(published) = published {
                // A key that was committed after the snapshot, by a record that is not ours.
                let newer = |key: &Key| {
                    published.records_of(key).into_iter().any(|other| {
                        other != record
                            && !inside.written.contains(&other)
                            && !index.records_of(key).contains(&other)
                    })
                };
                if change.added.iter().any(newer) {
                    return Err(write_conflict());
                }
            }
        }
        Ok(())
    }

    fn take_locks(&mut self, change: &Change, record: RecordId) {
        let Some(inside) = &mut self.inside else {
            return;
        };
        inside.written.insert(record);
        self.locks.records.insert(record, inside.owner);
        let collection = self.draft.settled();
        for (index, change) in collection.indexes.iter().zip(&change.indexes) {
            if index.spec.refuses_duplicates() {
                for key in change.added.iter().chain(&change.removed) {
                    self.locks
                        .keys
                        .insert((index.spec.name.clone(), key.to_vec()), inside.owner);
                }
            }
        }
    }
}
