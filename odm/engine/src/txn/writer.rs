//! Writing documents: conflicts of records first, then uniqueness, then conflicts of keys, then the change.

use std::borrow::Cow;

use bson::raw::{RawDocument, RawDocumentBuf, cstr};
use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::catalog::changes::{self, What, definition};
use crate::catalog::collection::{Change, Collection, Locks, Owner, document};
use crate::catalog::draft::Draft;
use crate::catalog::namespace::Namespace;
use crate::index::{Index, Placed, RecordId};
use crate::txn::{changed_catalog, write_conflict};

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
pub(crate) struct Writer<'a, 'b> {
    pub(crate) draft: &'a mut Draft<'b>,
    pub(crate) locks: &'a mut Locks,
    pub(crate) inside: Option<Inside<'a>>,
    pub(crate) changed: bool,
    /// Documents that the validator would refuse are let pass.
    pub(crate) bypass_validation: bool,
}

impl Writer<'_, '_> {
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

    /// Whether somebody wants to know what was changed.
    pub(crate) fn is_watched(&self) -> bool {
        self.draft.is_watched()
    }

    /// Puts another document in the place of a record's. `description` tells what was updated; without one, the
    /// document was replaced.
    pub(crate) fn replace(
        &mut self,
        record: RecordId,
        document: RawDocumentBuf,
        description: Option<RawDocumentBuf>,
    ) -> Result<(), ServerError> {
        let after = Cow::Owned(document.into_bytes());
        self.write(record, None, false, Some(after), description)
    }

    /// Tells of what was done so far as a server does it: the documents were inserted into a collection of another
    /// name, which then took the place of this one, if it `was_there`.
    pub(crate) fn tell_as_moved(&mut self, from: &Namespace, was_there: bool) {
        let collection = self.draft.collection();
        let (to, uuid) = (collection.namespace.clone(), collection.uuid);
        let created = definition::created_for_now(collection, from);
        let Some(changes) = self.draft.changes() else {
            return;
        };
        changes.retain(|change| matches!(change.what, What::Insert { .. }));
        for change in &mut *changes {
            change.namespace = from.clone();
        }
        changes.splice(..0, created);
        changes.push(changes::Change {
            namespace: from.clone(),
            uuid: Some(uuid),
            what: What::Rename {
                to,
                replaced: was_there.then_some(uuid),
            },
        });
        self.changed = true;
    }

    /// Takes a record out, if it is there.
    pub(crate) fn remove(&mut self, record: RecordId) -> Result<(), ServerError> {
        self.write(record, None, false, None, None)
    }

    /// The same, where its entry in the first index is known.
    pub(crate) fn remove_found(&mut self, first: Placed) -> Result<(), ServerError> {
        self.write(first.record, Some(first), false, None, None)
    }

    /// Whether somebody else's uncommitted write, or a newer committed one, stands in the way.
    fn check_record(&self, record: RecordId) -> Result<(), ServerError> {
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

    /// Whether an index that was made since the transaction began would have to change: it lacks what was there then.
    fn check_indexes(
        &self,
        before: Option<&RawDocument>,
        after: Option<&RawDocument>,
    ) -> Result<(), ServerError> {
        let Some(Inside {
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
        first: Option<Placed>,
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
            Some(first) => Change::of_first(first),
            None => Change::nothing(record),
        };
        change.at = at;
        collection.complete(&mut change, known, before_document, after_document)?;
        self.check_keys(&change, after_document)?;
        let told = self
            .is_watched()
            .then(|| told(collection, before_document, after_document, description))
            .flatten();
        self.take_locks(&change);
        if let (Some(told), Some(changes)) = (told, self.draft.changes()) {
            changes.push(told);
        }
        self.draft.apply(change, after);
        self.changed = true;
        Ok(())
    }

    /// Refuses keys that are in the way, index by index. What is in the way for sure is told at once, also where
    /// somebody is about to take it away.
    fn check_keys(&self, change: &Change, after: Option<&RawDocument>) -> Result<(), ServerError> {
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
            // A key that was committed after the snapshot, by a record that is not ours.
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

    fn take_locks(&mut self, change: &Change) {
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

/// What those who watch are told of a write.
fn told(
    collection: &Collection,
    before: Option<&RawDocument>,
    after: Option<&RawDocument>,
    description: Option<RawDocumentBuf>,
) -> Option<changes::Change> {
    let keeps_images = collection.options.keeps_images;
    let what = match (before, after) {
        (None, None) => return None,
        (None, Some(document)) => What::Insert {
            document: document.to_owned(),
        },
        (Some(before), None) => What::Delete {
            key: key(before),
            before: keeps_images.then(|| before.to_owned()),
        },
        (Some(before), Some(after)) => match description {
            None => What::Replace {
                document: after.to_owned(),
                before: keeps_images.then(|| before.to_owned()),
            },
            Some(description) => What::Update {
                key: key(after),
                description,
                images: keeps_images.then(|| (before.to_owned(), after.to_owned())),
            },
        },
    };
    Some(changes::Change {
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
