//! The references that a write adds and removes.

use std::collections::BTreeSet;

use bson::RawDocumentBuf;
use bson::raw::RawBsonRef;

use super::BackReference;
use crate::error::Result;
use crate::exec::Keys;

/// References of written documents to others, by the positions of their keys.
#[derive(Debug, Default)]
pub(in crate::write) struct Links {
    pub(super) owns: Keys,
    pub(super) others: Keys,
    added: BTreeSet<(usize, usize)>,
    removed: BTreeSet<(usize, usize)>,
}

impl Links {
    /// These links, by the positions of the keys of both documents.
    pub(in crate::write) fn new(
        (owns, others): (Keys, Keys),
        added: BTreeSet<(usize, usize)>,
        removed: BTreeSet<(usize, usize)>,
    ) -> Self {
        Self {
            owns,
            others,
            added,
            removed,
        }
    }

    /// The links of documents as they are now that they did not have before, and those that they had.
    pub(in crate::write) fn between(
        back: &BackReference,
        before: &[RawDocumentBuf],
        after: &[RawDocumentBuf],
    ) -> Result<Self> {
        let mut links = Self::default();
        let old = links.of(back, before)?;
        let new = links.of(back, after)?;
        links.added = new.difference(&old).copied().collect();
        links.removed = old.difference(&new).copied().collect();
        Ok(links)
    }

    fn of(
        &mut self,
        back: &BackReference,
        documents: &[RawDocumentBuf],
    ) -> Result<BTreeSet<(usize, usize)>> {
        let mut found = BTreeSet::new();
        for document in documents {
            let key = back.own.key.value(document);
            let Some(key) = key.filter(|key| *key != RawBsonRef::Null) else {
                continue;
            };
            let own = self.owns.add(key)?;
            let mut added = Ok(());
            back.own.path.each_value(document, &mut |value| {
                if value == RawBsonRef::Null || added.is_err() {
                    return;
                }
                added = self.others.add(value).map(|other| {
                    found.insert((own, other));
                });
            });
            added?;
        }
        Ok(found)
    }

    pub(in crate::write) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    pub(super) fn added(&self) -> &BTreeSet<(usize, usize)> {
        &self.added
    }

    pub(super) fn removed(&self) -> &BTreeSet<(usize, usize)> {
        &self.removed
    }
}
