//! What follows from written documents: in others, and in the documents themselves.

use std::sync::{Arc, Mutex, PoisonError};

use bson::{Document as BsonDocument, RawDocumentBuf, doc};

use super::super::collected::Collected;
use super::super::copies::facts::{Facts, Holders, settle};
use super::super::copies::kept::Kept;
use super::super::fences::Fences;
use super::super::reference_place::exact_read;
use super::super::references::CheckedReferences;
use super::super::two_way::{BackReference, Links, Written};
use super::collect::add_collected;
use super::record::Records;
use crate::collection::Stale;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::ModelMeta;
use crate::query::operators::any_of;
use crate::store::{Afterwards, Operation};

/// Documents that a write has written besides those that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Propagated {
    /// The model of the documents, such as `LogMessage`.
    pub model: &'static str,
    /// The Rust names down to the reference: the one beside the copies, such as `parts.part`, or the one that refers back. Of
    /// summaries, the name of the relation; of lists of the newest, the field.
    pub by: String,
    /// How many documents were written, because they had other values.
    pub documents: u64,
}

/// The derived data that a write of documents of one model may change.
pub(in crate::write) struct Derived {
    pub(super) model: &'static ModelMeta,
    /// The copies in other documents.
    pub(super) made: Vec<&'static Kept>,
    /// The copies in the written documents.
    pub(super) held: Vec<&'static Kept>,
    /// The references of other documents that refer back.
    pub(super) back: Vec<Arc<BackReference>>,
    /// The summaries and lists in other documents.
    pub(super) collected: Vec<Collected>,
    /// Those in the written documents.
    pub(super) own: Vec<Collected>,
    /// The references in the written documents that are checked.
    pub(super) references: CheckedReferences,
    /// Whether copies, summaries and lists in other documents are left to `resume_propagation`.
    pub(super) in_background: bool,
    /// Whether the write is in a transaction of the caller.
    pub(super) is_callers: bool,
    /// What the last attempt has to look at again.
    looks: Mutex<Looks>,
}

/// Copies, summaries and lists that are looked at again after the write has taken effect.
#[derive(Debug, Default)]
pub(in crate::write) struct Looks {
    pub(super) made: Vec<(&'static Kept, Keys)>,
    pub(super) held: Vec<(&'static Kept, Holders, Facts)>,
    pub(super) collected: Vec<(Collected, Keys)>,
    pub(super) records: Records,
}

impl Derived {
    pub(super) fn new(
        model: &'static ModelMeta,
        stale: &Stale,
        in_background: bool,
    ) -> Result<Self> {
        Ok(Self {
            model,
            made: Kept::all(stale.made.iter().copied())?,
            held: Kept::all(stale.held.iter().copied())?,
            back: BackReference::all(stale.two_way.iter().copied())?,
            collected: Collected::all(stale.counted.iter().copied(), stale.listed.iter().copied())?,
            own: Collected::all(stale.summaries.iter().copied(), stale.lists.iter().copied())?,
            references: CheckedReferences::default(),
            in_background,
            is_callers: false,
            looks: Mutex::default(),
        })
    }

    /// Derived data of a delete, which says itself what it writes.
    pub(in crate::write) fn of_delete(model: &'static ModelMeta) -> Result<Self> {
        Self::new(model, &Stale::default(), false)
    }

    /// Says whether the write is in a transaction of the caller.
    pub(in crate::write) fn enter(&mut self, is_callers: bool) {
        self.is_callers = is_callers;
    }

    /// Has the references in the written documents checked.
    pub(super) fn check_references(&mut self) -> Result<()> {
        self.references = CheckedReferences::all(self.model)?;
        Ok(())
    }

    /// Refuses a write without a transaction that would leave damage which nothing finds.
    pub(super) fn need_transaction(&self, channel: &Channel<'_>) -> Result<()> {
        self.references.need_transaction(channel)?;
        if channel.is_in_transaction() {
            return Ok(());
        }
        let others = self.back.iter().flat_map(|back| &back.other.copies);
        let mut held = self.held.iter().chain(others);
        match held.find(|kept| kept.copies.refresh.is_some()) {
            None => Ok(()),
            Some(kept) => Err(Error::usage(format!(
                "the copies beside `{}` follow by their age: if this write stopped between the reference and the copies, they \
                 would be of another document and seem fresh. Leave `non_atomic()` out",
                kept.reference.as_str()
            ))),
        }
    }

    /// What the caller has said besides the change.
    pub(super) fn words(&self) -> [bool; 2] {
        [self.in_background, !self.references.is_empty()]
    }

    /// Whether several documents are written together.
    pub(super) fn is_several(&self) -> bool {
        !self.made.is_empty() || !self.held.is_empty() || self.reads_after()
    }

    /// Whether the documents have to be read after they are written, too.
    pub(super) fn reads_after(&self) -> bool {
        !self.back.is_empty()
            || !self.collected.is_empty()
            || !self.own.is_empty()
            || !self.references.is_empty()
    }

    /// Whether the written documents themselves may be written once more.
    pub(super) fn writes_again(&self) -> bool {
        let is_own = |model: &ModelMeta| model.collection == self.model.collection;
        !self.held.is_empty()
            || !self.own.is_empty()
            || !self.back.is_empty()
            || self.made.iter().any(|kept| is_own(kept.copies.model))
            || self.collected.iter().any(|one| is_own(one.holder()))
    }

    /// The fields that are read of documents before and after they are written.
    pub(super) fn projection(&self) -> BsonDocument {
        let mut projection = doc! {"_id": 1};
        for kept in &self.made {
            projection.insert(kept.key.as_str(), 1);
        }
        for back in &self.back {
            projection.extend(back.own.projection());
        }
        for one in &self.collected {
            projection.insert(one.reference().as_str(), 1);
        }
        for one in &self.own {
            projection.insert(one.key().as_str(), 1);
        }
        self.references.project(&mut projection);
        projection
    }

    /// Reads these documents as they are now.
    pub(super) async fn read(
        &self,
        channel: &mut Channel<'_>,
        ids: &Keys,
    ) -> Result<Vec<RawDocumentBuf>> {
        let mut documents = Vec::new();
        for part in ids.parts() {
            let find = Operation::Find {
                filter: any_of("_id", part).into(),
                one: false,
            };
            let options = exact_read(channel, self.model, Some(self.projection()));
            let read = channel.of(self.model).documents(find, options);
            documents.extend(read.await?);
        }
        Ok(documents)
    }

    /// Returns an error if a reference that a written document has, and did not have before, leads to no document.
    pub(super) async fn check_new_references(
        &self,
        channel: &mut Channel<'_>,
        before: &[RawDocumentBuf],
        after: &[RawDocumentBuf],
    ) -> Result<()> {
        let keys = self.references.new_keys(before, after)?;
        let mut fences = Fences::default();
        self.references.fence(channel, &keys, &mut fences)?;
        fences.write(channel, self.model).await?;
        self.references.check(channel, &keys).await
    }

    /// Writes the copies in documents of a model, which are found by these keys.
    pub(super) async fn write_held(
        &self,
        channel: &mut Channel<'_>,
        all: &[&'static Kept],
        (key, keys): (&str, &Keys),
        looks: &mut Looks,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let is_atomic = channel.is_in_transaction();
        for kept in all {
            let model = kept.copies.model;
            let mut holders = Holders::default();
            for part in keys.parts() {
                let find = Operation::Find {
                    filter: any_of(key, part).into(),
                    one: false,
                };
                let options = exact_read(channel, model, Some(kept.projection()));
                let read = channel
                    .of(model)
                    .read(find, options, |document| holders.add(kept, document));
                read.await?;
            }
            let is_fenced = kept.follows() && (kept.is_strict() || self.is_callers);
            if is_fenced {
                let mut fences = Fences::default();
                kept.fence(channel, &holders.keys, &mut fences)?;
                fences.write(channel, self.model).await?;
            }
            let facts = Facts::read(channel, kept, &holders.keys, false).await?;
            let documents = facts.write(channel, kept, Some(&holders)).await?;
            add(done, kept, documents);
            if kept.follows() && !(is_atomic && is_fenced) {
                looks.held.push((kept, holders, facts));
            }
        }
        Ok(())
    }

    /// Writes the references that refer back, and the copies beside them.
    pub(super) async fn write_back(
        &self,
        channel: &mut Channel<'_>,
        before: &[RawDocumentBuf],
        after: &[RawDocumentBuf],
        looks: &mut Looks,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        for back in &self.back {
            let links = Links::between(back, before, after)?;
            let written = back.write(channel, &links).await?;
            count_written(done, back, &written);
            let (other, referring) = (&back.other, &written.referring);
            let key = other.key.as_str();
            self.write_held(channel, &other.copies, (key, referring), looks, done)
                .await?;
            for one in &other.collected {
                self.collect(channel, one, &written.owns, looks, done)
                    .await?;
            }
        }
        Ok(())
    }

    /// Keeps what has to be looked at again.
    pub(in crate::write) fn keep(&self, looks: Looks) {
        *self.looks.lock().unwrap_or_else(PoisonError::into_inner) = looks;
    }

    fn take_looks(&self) -> Looks {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *looks)
    }

    /// Looks again after the write has taken effect.
    pub(in crate::write) async fn settle(
        &self,
        channel: &mut Channel<'_>,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let looks = self.take_looks();
        looks
            .run(channel, self.model, self.in_background, done)
            .await
    }

    /// What runs after the transaction of the caller has been committed.
    pub(in crate::write) fn after_commit(
        &self,
        mut channel: Channel<'static>,
    ) -> Option<Afterwards> {
        let looks = self.take_looks();
        if looks.is_empty() {
            return None;
        }
        let (model, in_background) = (self.model, self.in_background);
        Some(Box::new(move || {
            Box::pin(async move {
                let mut done = Vec::new();
                looks
                    .run(&mut channel, model, in_background, &mut done)
                    .await
            })
        }))
    }
}

impl Looks {
    fn is_empty(&self) -> bool {
        self.made.is_empty() && self.held.is_empty() && self.collected.is_empty()
    }

    /// Writes the copies and summaries that differ by now, and removes the records of the change.
    async fn run(
        self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
        in_background: bool,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        if !in_background {
            for (kept, keys) in &self.made {
                let documents = settle(channel, kept, None, keys, None).await?;
                add(done, kept, documents);
            }
            for (one, keys) in &self.collected {
                let documents = one.settle(channel, keys).await?;
                add_collected(done, one, documents);
            }
        }
        for (kept, holders, facts) in self.held {
            let settled = settle(channel, kept, Some(&holders), &holders.keys, Some(facts));
            add(done, kept, settled.await?);
        }
        if !in_background {
            self.records.remove(channel, model).await?;
        }
        Ok(())
    }
}

/// Adds copies that were written.
pub(super) fn add(done: &mut Vec<Propagated>, kept: &Kept, documents: u64) {
    count(done, kept.copies.model, kept.copies.by.join("."), documents);
}

/// Adds references that were written because they refer back.
pub(in crate::write) fn count_written(
    done: &mut Vec<Propagated>,
    back: &BackReference,
    written: &Written,
) {
    for (side, documents) in [
        (&back.sides.other, written.other),
        (&back.sides.own, written.own),
    ] {
        if documents > 0 {
            count(done, side.model, side.field.to_owned(), documents);
        }
    }
}

/// Adds documents that were written, by the names of what they follow.
pub(in crate::write) fn count(
    done: &mut Vec<Propagated>,
    model: &ModelMeta,
    by: String,
    documents: u64,
) {
    let propagated = Propagated {
        model: model.name,
        by,
        documents,
    };
    add_propagated(done, propagated);
}

/// Adds documents that another of several writes has written.
pub(super) fn add_propagated(done: &mut Vec<Propagated>, one: Propagated) {
    let mut known = done.iter_mut();
    match known.find(|known| known.model == one.model && known.by == one.by) {
        Some(known) => known.documents += one.documents,
        None => done.push(one),
    }
}
