//! A collection under change, before others see it.
//!
//! Most commands change one document. Copying the maps on the way to it, so that readers keep what they see, would
//! cost more than the change. So the first change is held back: if it stays the only one, it is made in the published
//! collection itself, for as short as that takes, and copies only what some reader still holds.

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::catalog::Root;
use crate::engine::catalog::changes;
use crate::engine::catalog::collection::{Change, Collection};

/// A change of more index keys than these would keep readers waiting.
const FEW_KEYS: usize = 64;

/// The next version of a collection.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    base: &'a Arc<Collection>,
    /// The changed copy, once there is more than one change.
    copy: Option<Collection>,
    held: Option<Held>,
    /// What was done, where somebody wants to know.
    pub(crate) changes: Option<Vec<changes::Change>>,
}

/// What a draft has come to, which needs the collection that it came from no more.
#[derive(Debug)]
pub(crate) enum Outcome {
    Nothing,
    One(Held),
    Copy(Box<Collection>),
}

/// A change that is not made yet.
#[derive(Debug)]
pub(crate) struct Held {
    change: Change,
    after: Option<Vec<u8>>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(base: &'a Arc<Collection>) -> Self {
        Self {
            base,
            copy: None,
            held: None,
            changes: None,
        }
    }

    /// The collection with all changes so far.
    pub(crate) fn collection(&mut self) -> &Collection {
        self.settle();
        self.settled()
    }

    /// The same as a snapshot.
    pub(crate) fn snapshot(&mut self) -> Arc<Collection> {
        self.settle();
        match &self.copy {
            Some(copy) => Arc::new(copy.clone()),
            None => Arc::clone(self.base),
        }
    }

    /// Makes the change that was held back, in a copy.
    pub(crate) fn settle(&mut self) {
        if let Some(held) = self.held.take() {
            let copy = self.copy.get_or_insert_with(|| (**self.base).clone());
            copy.apply(&held.change, held.after.as_deref());
        }
    }

    /// The collection, of which nothing may be held back.
    pub(crate) fn settled(&self) -> &Collection {
        debug_assert!(self.held.is_none(), "a change is held back");
        self.copy.as_ref().unwrap_or(self.base)
    }

    /// Adds a change, which `settled` has allowed.
    #[inline]
    pub(crate) fn apply(&mut self, change: Change, after: Option<Cow<'_, [u8]>>) {
        self.settle();
        if self.copy.is_none() && change.keys() <= FEW_KEYS {
            self.held = Some(Held {
                change,
                after: after.map(Cow::into_owned),
            });
            return;
        }
        let copy = self.copy.get_or_insert_with(|| (**self.base).clone());
        copy.apply(&change, after.as_deref());
    }

    /// What is to be published.
    #[inline]
    pub(crate) fn finish(self) -> Outcome {
        match (self.copy, self.held) {
            (Some(copy), _) => Outcome::Copy(Box::new(copy)),
            (None, Some(held)) => Outcome::One(held),
            (None, None) => Outcome::Nothing,
        }
    }
}

impl Outcome {
    /// Puts the changed collection in the place of `base`, the one that it came from. What it replaces, if it is another,
    /// is returned: it may take long to be let go.
    #[inline]
    pub(crate) fn publish(self, base: Arc<Collection>, root: &mut Root) -> Option<Arc<Collection>> {
        match self {
            Self::Nothing => None,
            // `base` goes with what is replaced, which is the same.
            Self::Copy(copy) => {
                root.put(*copy);
                Some(base)
            }
            Self::One(held) => {
                let collection = root.collection_mut(&base.namespace)?;
                drop(base);
                Arc::make_mut(collection).apply(&held.change, held.after.as_deref());
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bson::rawdoc;

    use super::Draft;
    use crate::engine::catalog::Root;
    use crate::engine::catalog::collection::{Change, Collection};
    use crate::engine::catalog::namespace::Namespace;
    use crate::engine::catalog::options::Options;

    fn root() -> (Root, Namespace) {
        let namespace = Namespace::new("test", "c");
        let mut root = Root::default();
        let collection = Collection::new(namespace.clone(), [0; 16], Options::none(), Vec::new());
        root.put(collection);
        (root, namespace)
    }

    fn insert(draft: &mut Draft<'_>, record: u64) {
        draft.settle();
        let change = Change::nothing(record);
        draft.apply(change, Some(rawdoc! {"_id": 1}.into_bytes().into()));
    }

    #[test]
    fn a_reader_keeps_what_it_saw_of_one_change_and_of_two() {
        for changes in [1, 2] {
            let (mut root, namespace) = root();
            let reader = Arc::clone(root.collection(&namespace).unwrap());
            let mut draft = Draft::new(&reader);
            (1..=changes).for_each(|record| insert(&mut draft, record));
            assert_eq!(root.collection(&namespace).unwrap().len(), 0);
            let outcome = draft.finish();
            outcome.publish(Arc::clone(&reader), &mut root);
            assert_eq!(reader.len(), 0);
            let published = root.collection(&namespace).unwrap().len();
            assert_eq!(u64::try_from(published).unwrap(), changes);
        }
    }

    #[test]
    fn what_is_held_back_is_seen_in_the_draft() {
        let (root, namespace) = root();
        let mut draft = Draft::new(root.collection(&namespace).unwrap());
        insert(&mut draft, 1);
        assert_eq!(draft.collection().len(), 1);
        assert_eq!(draft.snapshot().len(), 1);
    }
}
