//! A transaction sees the current catalog of collections and views, with the documents of its snapshot.

use std::sync::Arc;

use odm_language::error::ServerError;

use crate::catalog::Root;
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::txn::transaction::Transaction;
use crate::txn::{TRANSIENT, changed_catalog};

impl Transaction {
    /// Brings a name up to date with the current catalog before its first use. Refuses a collection that was created
    /// since the snapshot. A name that was used before keeps its state: in MongoDB, changes to it wait for the
    /// transaction.
    pub(crate) fn follow(&mut self, now: &Root, namespace: &Namespace) -> Result<(), ServerError> {
        let mut namespace = namespace;
        while self.used.insert(namespace.clone()) {
            match self.working.take_view(now, namespace) {
                Some(on) => namespace = on,
                None => return self.follow_collection(now, namespace),
            }
        }
        Ok(())
    }

    fn follow_collection(&mut self, now: &Root, namespace: &Namespace) -> Result<(), ServerError> {
        if self.created(namespace) {
            return Ok(());
        }
        let known = match (
            now.collection(namespace),
            self.snapshot.collection(namespace),
        ) {
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                self.snapshot.remove(namespace);
                self.working.remove(namespace);
                return Ok(());
            }
            (Some(now), Some(then)) if now.uuid == then.uuid => {
                if now.version == then.version {
                    return Ok(());
                }
                adapted(then, now)
            }
            (Some(_), _) => return Err(changed_catalog(namespace).with_label(TRANSIENT)),
        };
        self.snapshot.put(known.clone());
        self.working.put(known);
        Ok(())
    }
}

/// The collection's documents at the snapshot, under its current options. It has only the indexes that exist in both,
/// and keeps the older version number if newer indexes are missing.
fn adapted(then: &Collection, now: &Collection) -> Collection {
    let mut adapted = then.clone();
    adapted.indexes.retain(|index| index.is_among(&now.indexes));
    adapted.options = Arc::clone(&now.options);
    if now
        .indexes
        .iter()
        .all(|index| index.is_among(&then.indexes))
    {
        adapted.version = now.version;
    }
    adapted
}
