//! What there is of collections and views is of now, also for a transaction; their documents are of its moment.

use std::sync::Arc;

use odm_language::error::ServerError;

use crate::catalog::Root;
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::txn::transaction::Transaction;
use crate::txn::{TRANSIENT, changed_catalog};

impl Transaction {
    /// Learns, before it uses a name for the first time, what has become of it since. It refuses a collection that was
    /// made since: nobody knows what would have been in it. What it has used stays as it was: on a server, whoever would
    /// change that waits for the transaction.
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

/// A collection with its documents of then, under its options of now. An index that is gone is not used, and neither is
/// one that was made since; that there is one, the older version tells.
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
