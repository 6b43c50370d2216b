//! Changes of stored documents with what follows from them.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::{Bson, RawDocumentBuf};
use odm_language::value::key;

use super::super::copies::facts::Facts;
use super::super::fences::Fences;
use super::super::planned::{Planned, WriteSteps};
use super::super::references::ChecksReferences;
use super::super::{Atomic, WriteSeveral};
use super::changed::changed;
use super::derived::{Derived, Looks, Propagated, add};
use super::plan::Propagates;
use crate::collection::Stale;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::copies::Copies;
use crate::model::{Document, ModelMeta};
use crate::plan::Step;
use crate::store::{Afterwards, Session};

/// A change of stored documents, to be sent between the commands that propagate it.
pub trait Modify: Send + Sync {
    /// The model of the documents.
    type Model: Document;
    /// The result.
    type Done: Send;

    /// Where the commands are sent.
    fn channel(&self) -> Channel<'static>;

    /// Reads these fields of the documents that the change matches.
    fn matching(
        &self,
        channel: &mut Channel<'_>,
        projection: bson::Document,
    ) -> impl Future<Output = Result<Vec<RawDocumentBuf>>> + Send;

    /// Changes the documents that were matched.
    fn modify(
        &self,
        channel: &mut Channel<'_>,
        matched: &[RawDocumentBuf],
    ) -> impl Future<Output = Result<Modified<Self::Done>>> + Send;

    /// Takes over what was written to the changed documents besides, into the result or the loaded document.
    fn read_again(
        &self,
        _channel: &mut Channel<'_>,
        done: Self::Done,
        _ids: &[Bson],
    ) -> impl Future<Output = Result<Self::Done>> + Send {
        std::future::ready(Ok(done))
    }

    /// The commands of the change itself, for a plan.
    fn commands(&self) -> Result<Vec<bson::Document>>;

    /// Where the result lists the documents that were written besides.
    fn propagated(_done: &mut Self::Done) -> Option<&mut Vec<Propagated>> {
        None
    }
}

/// What a change has done.
#[derive(Debug)]
pub struct Modified<D> {
    pub(super) done: D,
    /// The `_id`s of the documents that upserts have inserted.
    pub(super) inserted: Vec<Bson>,
    /// The operators, if they were applied to each document that matched.
    pub(super) operators: Option<bson::Document>,
}

/// The writes of a change that propagates, such as an [`UpdatePropagated`](super::UpdatePropagated).
pub struct PropagatedWrite<W> {
    change: W,
    derived: Derived,
    /// The derived data of a document that an upsert inserts.
    of_inserted: Option<Derived>,
    /// The `_id`s of the documents that the last attempt changed, if their derived data is written after they are.
    written_again: Mutex<Vec<Bson>>,
}

/// A change, the derived data that it makes stale, whether it may insert a document, and its session.
pub(super) struct Ready<'s, W> {
    pub(super) change: W,
    pub(super) stale: Stale,
    pub(super) is_upsert: bool,
    /// Whether the caller said `leave_stale()`.
    pub(super) leaves_stale: bool,
    pub(super) session: Option<&'s mut Session>,
}

/// The change with what follows from it.
pub(super) fn propagated<W: Modify>(
    ready: Result<Ready<'_, W>>,
    in_background: bool,
) -> Atomic<'_, PropagatedWrite<W>> {
    let model = W::Model::model();
    let ready = ready.and_then(|ready| {
        if !follows(model)? {
            return Err(Error::usage(
                "nothing follows from fields of this model, no `copy_of`, no `two_way` reference, no summary and no list of the \
                 newest: write without `propagate`",
            ));
        }
        let of_inserted = if ready.is_upsert {
            Some(Derived::new(model, &Stale::of_new(model)?, in_background)?)
        } else {
            None
        };
        let write = PropagatedWrite {
            change: ready.change,
            derived: Derived::new(model, &ready.stale, in_background)?,
            of_inserted,
            written_again: Mutex::default(),
        };
        Ok((write, ready.session))
    });
    Atomic::of_call(ready, model)
}

/// The change with a check of the references in the changed documents, and nothing else.
pub(super) fn checked<W: Modify>(ready: Result<Ready<'_, W>>) -> Atomic<'_, PropagatedWrite<W>> {
    let model = W::Model::model();
    let ready = ready.and_then(|ready| {
        if !ready.leaves_stale {
            ready.stale.expect_empty()?;
        }
        let mut write = PropagatedWrite::new(ready.change, &Stale::default(), false)?;
        if ready.is_upsert {
            write.of_inserted = Some(Derived::new(model, &Stale::default(), false)?);
        }
        write.check_references()?;
        Ok((write, ready.session))
    });
    Atomic::of_call(ready, model)
}

/// Whether a change of the model's documents can have anything to propagate.
pub(super) fn follows(model: &'static ModelMeta) -> Result<bool> {
    Ok(!model.copied()?.is_empty()
        || model.copies()?.iter().any(Copies::follows_reference)
        || !model.two_way()?.is_empty()
        || !model.summarized()?.is_empty()
        || !model.summaries()?.is_empty()
        || !model.listed()?.is_empty()
        || !model.newest_lists()?.is_empty())
}

/// Sorts documents by their `_id`s: lists get new references in this order, whatever order the documents were found in.
fn sort_by_id(documents: &mut [RawDocumentBuf]) {
    documents.sort_by_cached_key(|document| {
        let id = document.get("_id").ok().flatten();
        id.map(|id| key::of(id, None))
    });
}

/// Whether the error says that the change did not take effect.
fn is_withheld(error: &Error) -> bool {
    error.is_stale() || error.is_full() || error.is_duplicate_element()
}

impl<W: Modify> PropagatedWrite<W> {
    /// A change in a transaction, with what it may make stale: of the documents that it inserts, too.
    pub(super) fn new(change: W, stale: &Stale, in_background: bool) -> Result<Self> {
        Ok(Self {
            change,
            derived: Derived::new(W::Model::model(), stale, in_background)?,
            of_inserted: None,
            written_again: Mutex::default(),
        })
    }

    fn written_again(&self) -> MutexGuard<'_, Vec<Bson>> {
        let ids = self.written_again.lock();
        ids.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Modify> WriteSeveral for PropagatedWrite<W> {
    type Done = W::Done;

    fn model(&self) -> &'static ModelMeta {
        W::Model::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.change.channel()
    }

    fn enter(&mut self, is_callers: bool) {
        self.derived.enter(is_callers);
        if let Some(derived) = &mut self.of_inserted {
            derived.enter(is_callers);
        }
    }

    fn is_several(&self) -> bool {
        self.of_inserted.is_some() || self.derived.is_several()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<W::Done> {
        let model = W::Model::model();
        let is_atomic = channel.is_in_transaction();
        self.derived.need_transaction(channel)?;
        let projection = self.derived.projection();
        let mut documents = self.change.matching(channel, projection).await?;
        let derived = match &self.of_inserted {
            Some(_) if !is_atomic => {
                return Err(Error::usage(
                    "an upsert propagates in a transaction, in which nobody else inserts the document: leave `non_atomic()` out",
                ));
            }
            Some(of_inserted) if documents.is_empty() => of_inserted,
            _ => &self.derived,
        };
        let mut looks = Looks::default();
        let mut fences = Fences::default();
        let collection = channel.collection(model);
        for kept in &derived.made {
            let keys = Keys::at(&kept.key, &documents)?;
            kept.fence(channel, &keys, &mut fences)?;
            if derived.in_background || !is_atomic || !kept.is_strict() {
                looks.records.add(&collection, kept.key.as_str(), &keys);
            }
            looks.made.push((kept, keys));
        }
        if !is_atomic {
            looks.records.write(channel, model).await?;
            derived.record_all(channel, &documents, &mut looks).await?;
        }
        let modified = self.change.modify(channel, &documents).await;
        if let Err(error) = &modified
            && !is_atomic
            && is_withheld(error)
        {
            // Nothing has changed. If this fails, too, the records only cost `resume_propagation` a look.
            let _: Result<()> = looks.records.remove(channel, model).await;
        }
        let Modified {
            mut done,
            inserted,
            operators,
        } = modified?;
        looks.records.write(channel, model).await?;
        // Without a transaction, an insert that fills copies in one waits here, or has committed.
        fences.write(channel, model).await?;
        let mut ids = Keys::at(&StoredPath::at("_id"), &documents)?;
        for id in &inserted {
            ids.add_value(Some(id))?;
        }
        let mut propagated = Vec::new();
        let made = std::mem::take(&mut looks.made);
        for (kept, keys) in made {
            let is_strict = is_atomic && kept.is_strict();
            if !derived.in_background && is_atomic && (is_strict || derived.is_callers) {
                let facts = Facts::read(channel, kept, &keys, false).await?;
                let documents = facts.write(channel, kept, None).await?;
                add(&mut propagated, kept, documents);
            }
            if !is_strict {
                looks.made.push((kept, keys));
            }
        }
        let by_id = ("_id", &ids);
        derived
            .write_held(channel, &derived.held, by_id, &mut looks, &mut propagated)
            .await?;
        if derived.reads_after() {
            sort_by_id(&mut documents);
            let known = match operators.filter(|_| is_atomic && inserted.is_empty()) {
                Some(operators) => changed(&documents, &derived.projection(), &operators)?,
                None => None,
            };
            let after = match known {
                Some(after) => after,
                None => derived.read(channel, &ids).await?,
            };
            derived
                .check_new_references(channel, &documents, &after)
                .await?;
            derived
                .write_back(channel, &documents, &after, &mut looks, &mut propagated)
                .await?;
            derived
                .write_collected(channel, &documents, &after, &mut looks, &mut propagated)
                .await?;
        }
        if let Some(list) = W::propagated(&mut done) {
            *list = propagated;
        }
        self.derived.keep(looks);
        let ids = if derived.writes_again() {
            ids.values().to_vec()
        } else {
            Vec::new()
        };
        let done = self.change.read_again(channel, done, &ids).await?;
        *self.written_again() = ids;
        Ok(done)
    }

    async fn settle(&self, mut done: W::Done) -> Result<W::Done> {
        let mut channel = self.channel();
        let mut unlisted = Vec::new();
        let list = W::propagated(&mut done).unwrap_or(&mut unlisted);
        let settled = self.derived.settle(&mut channel, list).await;
        settled.map_err(|error| {
            error.context("the update has taken effect, and its copies are not all written: `resume_propagation` completes them")
        })?;
        let ids = std::mem::take(&mut *self.written_again());
        self.change.read_again(&mut channel, done, &ids).await
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.derived.after_commit(self.channel())
    }
}

impl<W: Modify> Propagates for PropagatedWrite<W> {}

impl<W: Modify> WriteSteps for PropagatedWrite<W> {
    async fn add_to(&self, channel: &mut Channel<'_>, plan: &mut Planned) -> Result<()> {
        let model = W::Model::model();
        let mut projection = self.derived.projection();
        // Any typed change since the plan shows in the version.
        projection.extend(model.version.map(|name| (name.to_owned(), 1.into())));
        let documents = self.change.matching(channel, projection).await?;
        let commands = self.change.commands()?;
        plan.add_call(channel, model, commands.clone(), &self.derived.words())?;
        plan.add_read(channel, model, "match the filter", &documents)?;
        let collection = channel.collection(model);
        let own = |reason: &str| Step::writes(model, &collection, commands, reason.to_owned());
        if documents.is_empty() {
            if self.of_inserted.is_some() {
                plan.steps
                    .push(own("insert, as none matches").of_documents(1));
            }
            return Ok(());
        }
        let count = documents.len() as u64;
        plan.steps.push(own("match the filter").of_documents(count));
        plan.steps
            .extend(self.derived.steps(channel, &documents).await?);
        Ok(())
    }
}

impl<W: Modify> ChecksReferences for PropagatedWrite<W> {
    fn check_references(&mut self) -> Result<()> {
        self.derived.check_references()?;
        match &mut self.of_inserted {
            Some(derived) => derived.check_references(),
            None => Ok(()),
        }
    }
}

impl<W> fmt::Debug for PropagatedWrite<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropagatedWrite({})", self.derived.model.collection)
    }
}
