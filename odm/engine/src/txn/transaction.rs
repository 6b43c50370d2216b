//! One multi-document transaction.

mod present;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::DateTime;
use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;

use crate::catalog::changes::{LoggedChange, Origin, definition};
use crate::catalog::collection::{Collection, Owner, Shared, Version};
use crate::catalog::draft::{Draft, Work};
use crate::catalog::namespace::Namespace;
use crate::catalog::{Catalog, Root};
use crate::index::RecordId;
use crate::txn::writer::{TransactionContext, Writer};
use crate::txn::{TRANSIENT, changed_catalog, write_conflict};

/// How long a transaction may stay open, in milliseconds.
const LIFETIME: i64 = 60_000;

#[derive(Debug)]
pub(crate) struct Transaction {
    owner: Owner,
    snapshot: Root,
    working: Root,
    /// The records written, by collection, including the collections that the transaction created.
    written: BTreeMap<Namespace, BTreeSet<RecordId>>,
    /// The names that it has read or written.
    used: BTreeSet<Namespace>,
    started: DateTime,
    /// The read concern of its first command.
    concern: Option<RawDocumentBuf>,
    /// Its changes, in order. They are always recorded, because a change stream may open before the commit.
    changes: Vec<LoggedChange>,
    /// Whether it holds the writes of a single command, and no client knows it.
    is_of_command: bool,
}

impl Transaction {
    /// Begins with a snapshot of everything.
    pub(crate) fn begin(snapshot: Root, now: DateTime) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            owner: NEXT.fetch_add(1, Ordering::Relaxed),
            working: snapshot.clone(),
            snapshot,
            written: BTreeMap::new(),
            used: BTreeSet::new(),
            started: now,
            concern: None,
            changes: Vec::new(),
            is_of_command: false,
        }
    }

    /// Begins one for the writes of a single command.
    pub(crate) fn of_command(snapshot: Root, now: DateTime) -> Self {
        Self {
            is_of_command: true,
            ..Self::begin(snapshot, now)
        }
    }

    /// Keeps the read concern of the first command.
    pub(crate) fn set_concern(&mut self, concern: &RawDocument) {
        self.concern = Some(concern.to_owned());
    }

    pub(crate) fn concern(&self) -> Option<&RawDocument> {
        self.concern.as_deref()
    }

    /// When it expires, in milliseconds.
    pub(crate) fn due(&self) -> i64 {
        self.started.timestamp_millis().saturating_add(LIFETIME)
    }

    pub(crate) fn is_expired(&self, now: DateTime) -> bool {
        now.timestamp_millis() > self.due()
    }

    /// The state that the transaction sees: its snapshot and its own writes.
    pub(crate) fn root(&self) -> &Root {
        &self.working
    }

    /// Adds a collection, which others see only after the commit.
    pub(crate) fn create(&mut self, collection: Collection) {
        self.written
            .entry(collection.namespace.clone())
            .or_default();
        self.changes.extend(definition::created(&collection, None));
        self.working.put(collection);
    }

    /// Whether the transaction itself created this collection.
    pub(crate) fn created(&self, namespace: &Namespace) -> bool {
        self.working.collection(namespace).is_some()
            && self.snapshot.collection(namespace).is_none()
    }

    /// Replaces a collection that the transaction itself created, after a change of its indexes.
    pub(crate) fn recreate(&mut self, collection: Collection) {
        if let Some(before) = self.working.collection(&collection.namespace) {
            let index_changes = definition::indexes_created(before, &collection);
            self.changes.extend(index_changes);
        }
        self.working.put(collection);
    }

    /// Opens a collection for writing. `None` where the transaction sees no such collection.
    pub(crate) fn write<T>(
        &mut self,
        catalog: &Catalog,
        namespace: &Namespace,
        bypass_validation: bool,
        write: impl FnOnce(&mut Writer<'_, '_>) -> T,
    ) -> Result<Option<T>, ServerError> {
        let Some(working) = self.working.collection(namespace).cloned() else {
            return Ok(None);
        };
        let shared = Arc::clone(&working.shared);
        let mut locks = shared.lock();
        let snapshot = self.snapshot.collection(namespace).cloned();
        let published = catalog.collection(namespace);
        if let Some(snapshot) = &snapshot {
            let same = |published: &Version| published.uuid == snapshot.uuid;
            if !published.as_ref().is_some_and(same) {
                return Err(changed_catalog(namespace));
            }
        }
        let written = self.written.entry(namespace.clone()).or_default();
        let mut work = Work::watched(true);
        let mut draft = Draft::new(&working, &mut work);
        let mut writer = Writer {
            draft: &mut draft,
            locks: &mut locks,
            inside: Some(TransactionContext {
                owner: self.owner,
                is_of_command: self.is_of_command,
                published: snapshot.as_ref().and(published.as_deref()),
                snapshot: snapshot.as_deref(),
                written,
            }),
            changed: false,
            bypass_validation,
        };
        let result = write(&mut writer);
        if writer.changed {
            self.changes.extend(work.changes.take().unwrap_or_default());
            work.publish(working, &mut self.working);
        }
        Ok(Some(result))
    }

    /// Publishes all writes together and releases the locks.
    pub(crate) fn commit(
        mut self,
        catalog: &Catalog,
        origin: Option<Origin>,
    ) -> Result<(), ServerError> {
        let changes = std::mem::take(&mut self.changes);
        let outcome = self.publish(catalog, changes, origin);
        self.release();
        outcome
    }

    fn publish(
        &self,
        catalog: &Catalog,
        changes: Vec<LoggedChange>,
        origin: Option<Origin>,
    ) -> Result<(), ServerError> {
        let mut written = Vec::new();
        for (namespace, records) in &self.written {
            let created = self.created(namespace);
            if let Some(working) = self.working.collection(namespace)
                && (created || !records.is_empty())
            {
                written.push((working, records, created));
            }
        }
        let guards = Shared::lock_all(written.iter().map(|(working, ..)| &working.shared));
        // Other writers of these collections wait for the locks, so the merge below stays current and need not block
        // readers.
        let latest = catalog.root();
        let mut merged = Vec::new();
        for (working, records, created) in &written {
            let namespace = &working.namespace;
            if *created {
                merged.push((***working).clone());
                continue;
            }
            let published = latest
                .collection(namespace)
                .filter(|published| Arc::ptr_eq(&published.shared, &working.shared));
            let Some(published) = published else {
                return Err(changed_catalog(namespace).with_label(TRANSIENT));
            };
            merged.push(
                merge(published, working, records)
                    .map_err(|_| write_conflict().with_label(TRANSIENT))?,
            );
        }
        drop(latest);
        let mut root = catalog.publish();
        for (working, _, created) in &written {
            let namespace = &working.namespace;
            if *created {
                root.check_case(&namespace.database)?;
                if root.collection(namespace).is_some() || root.view(namespace).is_some() {
                    return Err(write_conflict().with_label(TRANSIENT));
                }
            }
        }
        let replaced: Vec<_> = merged
            .into_iter()
            .map(|collection| root.put(collection))
            .collect();
        catalog.changes.append(&catalog.clock, changes, origin);
        drop((root, guards, replaced));
        Ok(())
    }

    /// Discards the writes and releases the locks.
    pub(crate) fn abort(self) {
        self.release();
    }

    fn release(&self) {
        for namespace in self.written.keys() {
            if let Some(collection) = self.working.collection(namespace) {
                collection.shared.lock().release(self.owner);
            }
        }
    }

    /// Aborts without waiting. Returns false and does nothing if a writer holds the lock of one of the collections.
    pub(crate) fn try_abort(&self) -> bool {
        let collections = self
            .written
            .keys()
            .filter_map(|namespace| self.working.collection(namespace));
        let Some(guards) = collections
            .map(|collection| collection.shared.try_lock())
            .collect::<Option<Vec<_>>>()
        else {
            return false;
        };
        for mut locks in guards {
            locks.release(self.owner);
        }
        true
    }
}

/// The published collection with the transaction's records merged in.
fn merge(
    published: &Collection,
    working: &Collection,
    records: &BTreeSet<RecordId>,
) -> Result<Collection, ServerError> {
    let mut merged = published.clone();
    // All keys are removed before any is added: two records may have exchanged a unique key.
    let mut changes = Vec::new();
    for record in records {
        let (before, after) = (merged.document(*record), working.document(*record));
        changes.push(merged.change(*record, before, after)?);
    }
    for change in &changes {
        merged.apply(&change.removals(), None);
    }
    for change in changes {
        let record = change.record;
        if let Some(after) = working.document(record) {
            merged.check_unique(&change, after)?;
        }
        merged.apply(&change.additions(), working.get(record));
    }
    Ok(merged)
}
