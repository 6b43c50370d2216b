//! Databases and collections: the state of the engine, at any moment one persistent map.
//!
//! A [`Root`] is a snapshot of everything. A reader clones it, or looks at one collection in place; either way it waits
//! only while a writer publishes. A writer holds the lock of one collection and publishes a new version of it.
//!
//! This module does not depend on sessions, transactions or commands.

pub(crate) mod changes;
pub(crate) mod collection;
pub(crate) mod draft;
mod fork;
mod names;
pub(crate) mod namespace;
pub(crate) mod options;
mod spin_lock;
pub(crate) mod text_scan;
pub(crate) mod view;

use std::sync::{Arc, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bson::{DateTime, Timestamp};

use odm_language::clock::Clock;
use odm_language::error::{Code, ServerError};

use changes::{ChangeKind, Changes, LoggedChange, definition};
use collection::{Collection, Locks, Version};
use draft::{Draft, Work};
use names::Namespaces;
use namespace::Namespace;
use view::View;

/// Every collection, at one moment. A clone costs a pointer.
#[derive(Debug, Clone, Default)]
pub struct Root {
    collections: Namespaces<Version>,
    views: Namespaces<Arc<View>>,
}

impl Root {
    pub fn collection(&self, namespace: &Namespace) -> Option<&Version> {
        self.collections.get(namespace)
    }

    /// The collection, to be changed in place. The caller holds its writer lock.
    pub(crate) fn collection_mut(&mut self, namespace: &Namespace) -> Option<&mut Version> {
        self.collections.get_mut(namespace)
    }

    /// The collections of a database, by name.
    pub fn database(&self, name: &str) -> impl Iterator<Item = &Version> {
        self.collections.database(name)
    }

    /// Whether the database has a collection or a view.
    pub(crate) fn has_database(&self, name: &str) -> bool {
        self.collections.has_database(name)
    }

    pub fn databases(&self) -> impl Iterator<Item = &Arc<str>> {
        self.collections.databases()
    }

    /// Adds a collection, or a new version of it. Returns the old version: dropping a large one takes long, so the
    /// caller drops it after releasing the lock.
    pub(crate) fn put(&mut self, collection: Collection) -> Option<Version> {
        let namespace = collection.namespace.clone();
        self.collections.insert(namespace, Version::new(collection))
    }

    pub(crate) fn remove(&mut self, namespace: &Namespace) {
        if &*namespace.collection == view::LISTING {
            self.views.remove_database(&namespace.database);
        }
        self.collections.remove(namespace);
    }

    /// Refuses a new database whose name differs from a known one by case alone.
    pub(crate) fn check_case(&self, database: &str) -> Result<(), ServerError> {
        let clash = self
            .databases()
            .find(|known| known.eq_ignore_ascii_case(database) && &***known != database);
        match clash {
            None => Ok(()),
            Some(known) => Err(ServerError::new(
                Code::DATABASE_DIFFER_CASE,
                format!(
                    "db already exists with different case already have: [{known}] trying to create [{database}]"
                ),
            )),
        }
    }
}

/// A value on cache lines of its own, so that threads that change it do not slow down threads that read its neighbours.
#[derive(Debug, Default)]
#[repr(align(128))]
struct CacheAligned<T>(T);

/// The published state.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    root: CacheAligned<RwLock<Root>>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) changes: Changes,
}

impl Catalog {
    fn read(&self) -> RwLockReadGuard<'_, Root> {
        spin_lock::read(&self.root.0)
    }

    /// A snapshot of everything.
    pub(crate) fn root(&self) -> Root {
        self.read().clone()
    }

    /// A snapshot with a cluster time of its own: every write in it has an earlier time, every later write a later one.
    pub(crate) fn moment(&self, now: DateTime) -> (Timestamp, Root) {
        // Writers publish, and take their time, under the write lock: the read lock holds them off until `tick`
        // returns.
        let root = self.read();
        (self.clock.tick(now), root.clone())
    }

    pub(crate) fn collection(&self, namespace: &Namespace) -> Option<Version> {
        self.read().collection(namespace).cloned()
    }

    /// Runs `look` on a collection under the catalog's read lock, which blocks every publish: only for work on a few
    /// documents. Holding a [`Version`] instead would force the next writer to copy it.
    ///
    /// `look` must not call the catalog: it would deadlock.
    pub(crate) fn look<T>(
        &self,
        namespace: &Namespace,
        look: impl FnOnce(&Collection) -> T,
    ) -> Option<T> {
        self.read().collection(namespace).map(|it| look(it))
    }

    pub(crate) fn view(&self, namespace: &Namespace) -> Option<Arc<View>> {
        self.read().view(namespace).cloned()
    }

    /// The published state, locked for changes. A caller that replaces a collection's data holds its writer lock.
    pub(crate) fn publish(&self) -> RwLockWriteGuard<'_, Root> {
        spin_lock::write(&self.root.0)
    }

    /// Turns the log on and returns once every write is logged; false if it was on already. Concurrent callers wait for
    /// the first to finish.
    pub(crate) fn log_changes(&self, now: DateTime) -> bool {
        let Some(start) = self.changes.start(now) else {
            return false;
        };
        // Writers that started before may not log, so they must finish first: a writer releases its lock once it has
        // the root lock.
        let root = self.root();
        for database in root.databases() {
            for collection in root.database(database) {
                drop(collection.shared.lock());
            }
        }
        drop(self.publish());
        start.finish(&self.clock, now);
        true
    }

    /// Logs changes that were just published, while the lock behind `_root` still hides them from readers.
    pub(crate) fn log(&self, _root: &Root, change: impl FnOnce() -> Vec<LoggedChange>) {
        if self.changes.is_on() {
            self.changes.append(&self.clock, change(), None);
        }
    }

    /// Runs `edit` on a collection's latest version with its writer lock held, and publishes the result. `None` where
    /// there is no such collection.
    pub(crate) fn edit<T>(
        &self,
        namespace: &Namespace,
        edit: impl FnOnce(&mut Collection, &mut Locks) -> Edit<T>,
    ) -> Option<T> {
        loop {
            let shared = Arc::clone(&self.collection(namespace)?.shared);
            let mut locks = shared.lock();
            // Otherwise the collection was dropped, and perhaps recreated, while this thread waited for the lock.
            if let Some(latest) = self.current(namespace, &shared) {
                return Some(self.publish_edit(namespace, &latest, &mut locks, edit));
            }
        }
    }

    /// Runs `write` on a draft of a collection with its writer lock held, and publishes the draft if `write` returns
    /// true. `None` where there is no such collection.
    pub(crate) fn write<T>(
        &self,
        namespace: &Namespace,
        write: impl FnOnce(&mut Draft<'_>, &mut Locks) -> (bool, T),
    ) -> Option<T> {
        let root = self.read();
        let latest = Version::clone(root.collection(namespace)?);
        // `root` blocks publishing until the writer lock is taken, so `latest` stays the current version.
        let Some(locks) = latest.shared.try_lock() else {
            let shared = Arc::clone(&latest.shared);
            // Holding the version would force the writer that has the lock to copy it.
            drop(latest);
            drop(root);
            return self.wait_and_write(namespace, shared, write);
        };
        drop(root);
        let mut work = Work::watched(self.changes.is_on());
        let (root, value) = self.draft(&latest, locks, &mut work, write);
        self.reveal(latest, root, &mut work);
        Some(value)
    }

    fn wait_and_write<T>(
        &self,
        namespace: &Namespace,
        mut shared: Arc<collection::Shared>,
        write: impl FnOnce(&mut Draft<'_>, &mut Locks) -> (bool, T),
    ) -> Option<T> {
        loop {
            let locks = shared.lock();
            if let Some(latest) = self.current(namespace, &shared) {
                let mut work = Work::watched(self.changes.is_on());
                let (root, value) = self.draft(&latest, locks, &mut work, write);
                self.reveal(latest, root, &mut work);
                return Some(value);
            }
            drop(locks);
            shared = Arc::clone(&self.collection(namespace)?.shared);
        }
    }

    /// Like [`write`](Self::write), but returns `None` instead of waiting for another writer.
    pub(crate) fn try_write<T>(
        &self,
        namespace: &Namespace,
        write: impl FnOnce(&mut Draft<'_>, &mut Locks) -> (bool, T),
    ) -> Option<T> {
        let shared = Arc::clone(&self.collection(namespace)?.shared);
        let locks = shared.try_lock()?;
        let latest = self.current(namespace, &shared)?;
        let mut work = Work::watched(self.changes.is_on());
        let (root, value) = self.draft(&latest, locks, &mut work, write);
        self.reveal(latest, root, &mut work);
        Some(value)
    }

    /// Runs `write` on a draft and locks the published state if the draft is to be published.
    fn draft<T>(
        &self,
        latest: &Version,
        mut locks: MutexGuard<'_, Locks>,
        work: &mut Work,
        write: impl FnOnce(&mut Draft<'_>, &mut Locks) -> (bool, T),
    ) -> (Option<RwLockWriteGuard<'_, Root>>, T) {
        let (publish, value) = write(&mut Draft::new(latest, work), &mut locks);
        // The writer lock is released here: the next writer has to wait for the root lock before it reads the
        // collection.
        (publish.then(|| self.publish()), value)
    }

    /// Publishes a draft of `latest`.
    fn reveal(&self, latest: Version, root: Option<RwLockWriteGuard<'_, Root>>, work: &mut Work) {
        let Some(mut root) = root else {
            return;
        };
        let replaced = work.publish(latest, &mut root);
        if let Some(changes) = work.changes.take() {
            self.changes.append(&self.clock, changes, None);
        }
        drop(root);
        // The old version is dropped after the lock is released.
        drop(replaced);
    }

    /// The collection, if `shared` still belongs to it.
    fn current(&self, namespace: &Namespace, shared: &Arc<collection::Shared>) -> Option<Version> {
        self.collection(namespace)
            .filter(|latest| Arc::ptr_eq(&latest.shared, shared))
    }

    fn publish_edit<T>(
        &self,
        namespace: &Namespace,
        latest: &Collection,
        locks: &mut Locks,
        edit: impl FnOnce(&mut Collection, &mut Locks) -> Edit<T>,
    ) -> T {
        let mut working = latest.clone();
        match edit(&mut working, locks) {
            Edit::Unchanged(value) => value,
            Edit::Publish(value, logged) => {
                let mut root = self.publish();
                let replaced = root.put(working);
                self.log(&root, || logged);
                drop(root);
                drop(replaced);
                value
            }
            Edit::Replace(collection, value) => {
                let first = collection.made_as("convertToCapped");
                let mut logged = definition::created_for_now(&collection, &first);
                logged.push(LoggedChange {
                    namespace: first,
                    uuid: Some(collection.uuid),
                    what: ChangeKind::Rename {
                        to: namespace.clone(),
                        replaced: Some(latest.uuid),
                    },
                });
                let mut root = self.publish();
                let replaced = root.put(*collection);
                self.log(&root, || logged);
                drop(root);
                drop(replaced);
                value
            }
            Edit::Drop(value) => {
                // `working` outlives the lock, so the data is dropped after it.
                let mut root = self.publish();
                root.remove(namespace);
                let change = || LoggedChange {
                    namespace: namespace.clone(),
                    uuid: Some(working.uuid),
                    what: ChangeKind::Drop,
                };
                self.log(&root, || vec![change()]);
                value
            }
        }
    }
}

/// What [`Catalog::edit`] does with the collection after the edit.
#[derive(Debug)]
pub(crate) enum Edit<T> {
    Unchanged(T),
    /// Publishes the edited collection and logs these changes.
    Publish(T, Vec<LoggedChange>),
    /// Another collection takes the place of this one.
    Replace(Box<Collection>, T),
    Drop(T),
}
