//! A private copy of the state: its changes become visible together when it is merged.

use std::collections::HashSet;
use std::sync::{Arc, RwLock};

use odm_language::error::{Code, ServerError};

use crate::catalog::changes::definition::{self, Definition};
use crate::catalog::changes::{ChangeKind, Changes, LoggedChange};
use crate::catalog::collection::{Collection, Shared, Version, document};
use crate::catalog::namespace::Namespace;
use crate::catalog::view::View;
use crate::catalog::{CacheAligned, Catalog, Root};
use crate::index::RecordId;

impl Catalog {
    /// A catalog that begins with `root`, and shares only the locks of the collections with the original.
    pub(crate) fn fork(root: Root) -> Self {
        Self {
            root: CacheAligned(RwLock::new(root)),
            clock: Arc::default(),
            changes: Changes::default(),
        }
    }

    /// Publishes the changes of a fork that began as `base`, or fails if another writer has changed the same
    /// collections or views. A fork drops no collections and removes no documents.
    pub(crate) fn merge(&self, base: &Root, fork: &Root) -> Result<(), ServerError> {
        let collections: Vec<_> = fork.new_collections(base).collect();
        let views: Vec<_> = fork.new_views(base).collect();
        let held = Shared::lock_all(collections.iter().map(|collection| &collection.shared));
        let is_held = held.iter().any(|locks| !locks.is_empty());
        let mut root = self.publish();
        let same = |namespace: &Namespace| {
            let collection = (root.collection(namespace), base.collection(namespace));
            let view = (root.view(namespace), base.view(namespace));
            is_same(collection.0, collection.1, Version::ptr_eq)
                && is_same(view.0, view.1, Arc::ptr_eq)
        };
        let unchanged = collections.iter().all(|new| same(&new.namespace))
            && views.iter().all(|new| same(&new.namespace));
        if is_held || !unchanged {
            return Err(ServerError::new(
                Code::WRITE_CONFLICT,
                "somebody else has written to the same collections in the meantime",
            ));
        }
        for new in &collections {
            root.check_case(&new.namespace.database)?;
        }
        let mut replaced = Vec::new();
        for new in &collections {
            replaced.extend(root.put(Collection::clone(new)));
        }
        for view in &views {
            root.views.insert(view.namespace.clone(), Arc::clone(view));
        }
        self.log(&root, || {
            let of_collections = collections
                .iter()
                .flat_map(|new| merge_events(base.collection(&new.namespace), new));
            let of_views = views
                .iter()
                .map(|view| definition::viewed(view, Definition::Create));
            of_collections.chain(of_views).collect()
        });
        // The old versions are dropped after the locks are released.
        drop((root, held));
        drop(replaced);
        Ok(())
    }
}

impl Root {
    fn new_collections<'r>(&'r self, base: &'r Self) -> impl Iterator<Item = &'r Version> {
        self.databases()
            .flat_map(|database| self.database(database))
            .filter(|collection| {
                !is_same(
                    Some(*collection),
                    base.collection(&collection.namespace),
                    Version::ptr_eq,
                )
            })
    }

    fn new_views<'r>(&'r self, base: &'r Self) -> impl Iterator<Item = &'r Arc<View>> {
        self.views
            .values()
            .filter(|view| !is_same(Some(*view), base.view(&view.namespace), Arc::ptr_eq))
    }
}

fn is_same<T>(one: Option<&T>, other: Option<&T>, same: fn(&T, &T) -> bool) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// The events for a merged collection: its creation if it is new, and its new documents and indexes.
fn merge_events(base: Option<&Version>, new: &Collection) -> Vec<LoggedChange> {
    if new.namespace.is_system() {
        return Vec::new();
    }
    let mut merge_events = match base {
        None => definition::created(new, None),
        Some(_) => Vec::new(),
    };
    merge_events.extend(inserts(base, new));
    if let Some(base) = base {
        merge_events.extend(definition::indexes_created(base, new));
    }
    merge_events
}

fn inserts(base: Option<&Version>, new: &Collection) -> impl Iterator<Item = LoggedChange> {
    let known: HashSet<RecordId> = base
        .into_iter()
        .flat_map(|base| base.all())
        .map(|stored| stored.record)
        .collect();
    new.all()
        .filter(move |stored| !known.contains(&stored.record))
        .filter_map(|stored| document(stored.bytes))
        .map(|document| LoggedChange {
            namespace: new.namespace.clone(),
            uuid: Some(new.uuid),
            what: ChangeKind::Insert {
                document: document.to_owned(),
            },
        })
}
