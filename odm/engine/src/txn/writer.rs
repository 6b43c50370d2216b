//! Writes documents: checks record conflicts, then unique keys and key conflicts, then applies the change.

use std::borrow::Cow;

use bson::raw::{RawDocument, RawDocumentBuf, cstr};
use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::catalog::changes::{self, ChangeKind, definition};
use crate::catalog::collection::{Collection, EntryChanges, Locks, Owner, document};
use crate::catalog::draft::Draft;
use crate::catalog::namespace::Namespace;
use crate::index::{Index, LocatedEntry, RecordId};
use crate::txn::{changed_catalog, write_conflict};

/// The transaction that a write belongs to, with the state that others see.
#[derive(Debug)]
pub(crate) struct TransactionContext<'a> {
    pub(crate) owner: Owner,
    /// Whether the transaction holds the writes of a single command.
    pub(crate) is_of_command: bool,
    /// The collection when the transaction began; `None` if the transaction created it.
    pub(crate) snapshot: Option<&'a Collection>,
    pub(crate) published: Option<&'a Collection>,
    /// The records written so far.
    pub(crate) written: &'a mut std::collections::BTreeSet<RecordId>,
}

/// One collection, open for writing.
#[derive(Debug)]
pub(crate) struct Writer<'a, 'b> {
    pub(crate) draft: &'a mut Draft<'b>,
    pub(crate) locks: &'a mut Locks,
    pub(crate) inside: Option<TransactionContext<'a>>,
    pub(crate) changed: bool,
    /// Skips the validator.
    pub(crate) bypass_validation: bool,
}

impl Writer<'_, '_> {
    /// Whether the write belongs to a transaction of a client.
    pub(crate) fn is_in_transaction(&self) -> bool {
        let inside = self.inside.as_ref();
        inside.is_some_and(|inside| !inside.is_of_command)
    }

    /// The collection with all writes so far.
    pub(crate) fn collection(&mut self) -> &Collection {
        self.draft.collection()
    }

    /// The collection with all writes so far. The caller has called [`settle`](Self::settle).
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
        self.write(
            record,
            None,
            true,
            Some(Cow::Borrowed(document.as_bytes())),
            None,
        )?;
        while capped && self.collection().is_overfull() {
            let Some(oldest) = self.collection().oldest() else {
                break;
            };
            self.remove(oldest)?;
        }
        Ok(record)
    }

    /// Whether changes are logged.
    pub(crate) fn is_watched(&self) -> bool {
        self.draft.is_watched()
    }

    /// Replaces a record's document. `description` is the event's update description; without one, the event is a
    /// replacement.
    pub(crate) fn replace(
        &mut self,
        record: RecordId,
        document: RawDocumentBuf,
        description: Option<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        let after = Cow::Owned(document.into_bytes());
        self.write(record, None, false, Some(after), description)
    }

    /// Logs the inserts so far the way MongoDB makes them: into a collection named `from`, which is then renamed over
    /// this one. `was_there` is whether this collection existed before.
    pub(crate) fn tell_as_moved(&mut self, from: &Namespace, was_there: bool) {
        let collection = self.draft.collection();
        let (to, uuid) = (collection.namespace.clone(), collection.uuid);
        let created = definition::created_for_now(collection, from);
        let Some(changes) = self.draft.changes() else {
            return;
        };
        changes.retain(|change| matches!(change.what, ChangeKind::Insert { .. }));
        for change in &mut *changes {
            change.namespace = from.clone();
        }
        changes.splice(..0, created);
        changes.push(changes::LoggedChange {
            namespace: from.clone(),
            uuid: Some(uuid),
            what: ChangeKind::Rename {
                to,
                replaced: was_there.then_some(uuid),
            },
        });
        self.changed = true;
    }

    /// Removes a record, if it exists.
    pub(crate) fn remove(&mut self, record: RecordId) -> Result<(), ServerError> {
        self.write(record, None, false, None, None)
    }

    /// Removes a record whose entry in the first index is known.
    pub(crate) fn remove_found(&mut self, first: LocatedEntry) -> Result<(), ServerError> {
        self.write(first.record, Some(first), false, None, None)
    }

    /// Refuses a record with another transaction's uncommitted write, or with a write committed since this one began.
    fn check_record(&self, record: RecordId) -> Result<(), ServerError> {
        if self.is_locked(self.locks.records.get(&record)) {
            return Err(write_conflict());
        }
        if let Some(inside) = &self.inside
            && !inside.written.contains(&record)
        {
            // Published versions form a sequence, so a record's stamp identifies the write that stored it.
            let stamp = |version: Option<&Collection>| version?.stored(record)?.stamp();
            if stamp(inside.snapshot) != stamp(inside.published) {
                return Err(write_conflict());
            }
        }
        Ok(())
    }

    /// Refuses a write that would change an index created since the transaction began: the transaction cannot maintain
    /// that index.
    fn check_indexes(
        &self,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<(), ServerError> {
        let Some(TransactionContext {
            snapshot: Some(then),
            published: Some(now),
            ..
        }) = &self.inside
        else {
            return Ok(());
        };
        if now.version == then.version {
            return Ok(());
        }
        let is_new = |index: &&Index| !index.is_among(&then.indexes);
        for index in now.indexes.iter().filter(is_new) {
            match (before, after) {
                (Some(before), Some(after)) if index.is_untouched(before, after) => {}
                (Some(_), Some(_)) => return Err(changed_catalog(&now.namespace)),
                _ => return Err(write_conflict()),
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
        first: Option<LocatedEntry>,
        is_new: bool,
        after: Option<Cow<'_, [u8]>>,
        description: Option<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        self.draft.settle();
        let collection = self.draft.settled();
        let located = if is_new {
            None
        } else {
            collection.locate(record)
        };
        let (before_document, at) = match located {
            Some((stored, at)) => (document(stored.bytes), Some(at)),
            None => (None, None),
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
        self.check_indexes(before_document, after_document)?;
        let known = usize::from(first.is_some());
        let mut change = match first {
            Some(first) => EntryChanges::of_first(first),
            None => EntryChanges::nothing(record),
        };
        change.at = at;
        collection.complete(&mut change, known, before_document, after_document)?;
        self.check_keys(&change, after_document)?;
        let logged = self
            .is_watched()
            .then(|| write_event(collection, before_document, after_document, description))
            .flatten();
        self.take_locks(&change);
        if let (Some(logged), Some(changes)) = (logged, self.draft.changes()) {
            changes.push(logged);
        }
        self.draft.apply(change, after);
        self.changed = true;
        Ok(())
    }

    /// Refuses conflicting keys, index by index. A key that exists is a duplicate even if an uncommitted transaction
    /// removes it.
    fn check_keys(
        &self,
        change: &EntryChanges,
        after: Option<&RawDocument>,
    ) -> Result<(), ServerError> {
        let collection = self.draft.settled();
        if self.inside.is_none() && self.locks.keys.is_empty() {
            return match after {
                Some(after) => collection.check_unique(change, after),
                None => Ok(()),
            };
        }
        for part in change.parts() {
            let Some(index) = collection.indexes.get(part.index) else {
                continue;
            };
            if !index.spec.refuses_duplicates() {
                continue;
            }
            let key = part.key();
            if let Some(after) = after.filter(|_| part.comes)
                && index.holds(key, Some(change.record))
            {
                return Err(index.duplicate(&collection.namespace.to_string(), after, key));
            }
            let name = (index.spec.name.clone(), key.to_vec());
            if self.is_locked(self.locks.keys.get(&name)) {
                return Err(write_conflict());
            }
            let Some(inside) = self.inside.as_ref().filter(|_| part.comes) else {
                continue;
            };
            let published = inside
                .published
                .and_then(|published| published.index(&index.spec.name));
            // A key that another record committed after the snapshot.
            let newer = |other: &RecordId| {
                *other != change.record
                    && !inside.written.contains(other)
                    && !index.records_of(key).contains(other)
            };
            if published.is_some_and(|published| published.records_of(key).iter().any(newer)) {
                return Err(write_conflict());
            }
        }
        Ok(())
    }

    fn take_locks(&mut self, change: &EntryChanges) {
        let Some(inside) = &mut self.inside else {
            return;
        };
        inside.written.insert(change.record);
        self.locks.records.insert(change.record, inside.owner);
        let collection = self.draft.settled();
        for part in change.parts() {
            if let Some(index) = collection.indexes.get(part.index)
                && index.spec.refuses_duplicates()
            {
                let name = (index.spec.name.clone(), part.key().to_vec());
                self.locks.keys.insert(name, inside.owner);
            }
        }
    }
}

/// The event of a write.
fn write_event(
    collection: &Collection,
    before: Option<&RawDocument>,
    after: Option<&RawDocument>,
    description: Option<RawDocumentBuf>,
) -> Option<changes::LoggedChange> {
    let keeps_images = collection.options.keeps_images;
    let what = match (before, after) {
        (None, None) => return None,
        (None, Some(document)) => ChangeKind::Insert {
            document: document.to_owned(),
        },
        (Some(before), None) => ChangeKind::Delete {
            key: key(before),
            before: keeps_images.then(|| before.to_owned()),
        },
        (Some(before), Some(after)) => match description {
            None => ChangeKind::Replace {
                document: after.to_owned(),
                before: keeps_images.then(|| before.to_owned()),
            },
            Some(description) => ChangeKind::Update {
                key: key(after),
                description,
                images: keeps_images.then(|| (before.to_owned(), after.to_owned())),
            },
        },
    };
    Some(changes::LoggedChange {
        namespace: collection.namespace.clone(),
        uuid: Some(collection.uuid),
        what,
    })
}

/// `{_id}`
fn key(document: &RawDocument) -> RawDocumentBuf {
    let mut key = RawDocumentBuf::new();
    if let Some(id) = raw::get(document, "_id") {
        key.append(cstr!("_id"), id);
    }
    key
}
