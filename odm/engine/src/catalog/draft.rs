//! Changes to a collection before they are published.
//!
//! Most commands change one document. Copying the maps on the way to it, so that readers keep what they see, would cost
//! more than the change. So a draft holds the first change back. If no other follows, the change is applied to the
//! published collection in place, under a short lock, and copies only the nodes that a reader still holds.

use crate::catalog::Root;
use crate::catalog::changes;
use crate::catalog::collection::{Collection, EntryChanges, Version};
use std::borrow::Cow;

/// A change with more index keys would block readers for more than a millisecond or two. It is applied to a copy, which
/// costs little more: that many keys share the copied leaves.
const FEW_KEYS: usize = 2048;

/// The next version of a collection.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    base: &'a Version,
    work: &'a mut Work,
}

/// The changes of a draft. It does not borrow the base version, so the caller can give that up when it publishes.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// The changed copy, once there is more than one change.
    copy: Option<Box<Collection>>,
    held: Option<PendingChange>,
    /// The changes to log, if the log is on.
    pub(crate) changes: Option<Vec<changes::LoggedChange>>,
}

/// A change that is not applied yet.
#[derive(Debug)]
struct PendingChange {
    change: EntryChanges,
    after: Option<Vec<u8>>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(base: &'a Version, work: &'a mut Work) -> Self {
        Self { base, work }
    }

    /// The collection with all changes so far.
    pub(crate) fn collection(&mut self) -> &Collection {
        self.settle();
        self.settled()
    }

    /// A snapshot of the collection with all changes so far.
    pub(crate) fn snapshot(&mut self) -> Version {
        self.settle();
        match &self.work.copy {
            Some(copy) => Version::new((**copy).clone()),
            None => Version::clone(self.base),
        }
    }

    /// Applies the held change to a copy.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.work.held.is_some() {
            self.make_held();
        }
    }

    fn make_held(&mut self) {
        if let Some(held) = self.work.held.take() {
            self.copy().apply(&held.change, held.after.as_deref());
        }
    }

    fn copy(&mut self) -> &mut Collection {
        self.work
            .copy
            .get_or_insert_with(|| Box::new((**self.base).clone()))
    }

    /// The collection with all changes so far. The caller has called [`settle`](Self::settle).
    pub(crate) fn settled(&self) -> &Collection {
        debug_assert!(self.work.held.is_none(), "a change is held back");
        self.work.copy.as_deref().unwrap_or(self.base)
    }

    /// Adds a change, which the caller has checked against [`settled`](Self::settled).
    #[inline]
    pub(crate) fn apply(&mut self, change: EntryChanges, after: Option<Cow<'_, [u8]>>) {
        self.settle();
        if self.work.copy.is_none() && change.keys() <= FEW_KEYS {
            self.work.held = Some(PendingChange {
                change,
                after: after.map(Cow::into_owned),
            });
            return;
        }
        self.copy().apply(&change, after.as_deref());
    }

    /// The changes to log, if the log is on.
    pub(crate) fn changes(&mut self) -> Option<&mut Vec<changes::LoggedChange>> {
        self.work.changes.as_mut()
    }

    /// Whether changes are logged.
    pub(crate) fn is_watched(&self) -> bool {
        self.work.changes.is_some()
    }
}

impl Work {
    /// Empty work, which records its changes for the log if `is_watched`.
    pub(crate) fn watched(is_watched: bool) -> Self {
        Self {
            changes: is_watched.then(Vec::new),
            ..Self::default()
        }
    }

    /// Publishes the changed collection in place of `base`. Returns the replaced version, if any: dropping it may take
    /// long.
    #[inline]
    pub(crate) fn publish(&mut self, base: Version, root: &mut Root) -> Option<Version> {
        if let Some(copy) = self.copy.take() {
            root.put(*copy);
            // `base` is the version that `put` replaced: the caller drops it.
            return Some(base);
        }
        let held = self.held.as_ref()?;
        let collection = root.collection_mut(&base.namespace)?;
        drop(base);
        Version::make_mut(collection).apply(&held.change, held.after.as_deref());
        None
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::{Draft, Work};
    use crate::catalog::Root;
    use crate::catalog::collection::{Collection, EntryChanges, Version};
    use crate::catalog::namespace::Namespace;
    use crate::catalog::options::Options;

    fn root() -> (Root, Namespace) {
        let namespace = Namespace::new("test", "c");
        let mut root = Root::default();
        let collection = Collection::new(namespace.clone(), [0; 16], Options::none(), Vec::new());
        root.put(collection);
        (root, namespace)
    }

    fn insert(draft: &mut Draft<'_>, record: u64) {
        draft.settle();
        let change = EntryChanges::nothing(record);
        draft.apply(change, Some(rawdoc! {"_id": 1}.into_bytes().into()));
    }

    #[test]
    fn readers_keep_their_snapshot_across_changes() {
        for changes in [1, 2] {
            let (mut root, namespace) = root();
            let reader = Version::clone(root.collection(&namespace).unwrap());
            let mut work = Work::default();
            let mut draft = Draft::new(&reader, &mut work);
            (1..=changes).for_each(|record| insert(&mut draft, record));
            assert_eq!(root.collection(&namespace).unwrap().len(), 0);
            work.publish(Version::clone(&reader), &mut root);
            assert_eq!(reader.len(), 0);
            let published = root.collection(&namespace).unwrap().len();
            assert_eq!(u64::try_from(published).unwrap(), changes);
        }
    }

    #[test]
    fn a_draft_shows_its_pending_changes() {
        let (root, namespace) = root();
        let mut work = Work::default();
        let mut draft = Draft::new(root.collection(&namespace).unwrap(), &mut work);
        insert(&mut draft, 1);
        assert_eq!(draft.collection().len(), 1);
        assert_eq!(draft.snapshot().len(), 1);
    }
}
