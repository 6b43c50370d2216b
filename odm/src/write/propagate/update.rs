//! Updates that write the copies of what they change.

use std::fmt;
use std::sync::Arc;

use bson::doc;
use odm_language::value::key;

use super::super::collected::Collected;
use super::super::copies::facts::{Facts, Kept};
use super::super::dependents::print_writes;
use super::super::fences::Fences;
use super::super::reference_place::exact_read;
use super::super::two_way::BackReference;
use super::super::{Atomic, WriteSeveral};
use super::derived::{Derived, Looks, Propagated, add};
use crate::collection::{Repeated, UpdateDocuments, UpdateResult};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::{Document, ModelMeta};
use crate::plan::Step;
use crate::store::options::Options;
use crate::store::{Afterwards, Operation};

/// An update and what follows from it, about to be sent: [`UpdateDocuments::propagate`], [`UpdateDocuments::in_background`].
///
/// [Without a transaction](Atomic::non_atomic), a record of the change is stored first, and removed after the copies are written:
/// if the update stops, [`resume_propagation`](crate::Collection::resume_propagation) completes it.
pub type UpdatePropagated<'s, M> = Atomic<'s, PropagatedUpdate<M>>;

/// The writes of an [`UpdatePropagated`].
pub struct PropagatedUpdate<M: Document> {
    update: Repeated<M>,
    derived: Derived,
}

/// The result of an update that [propagates](UpdateDocuments::propagate).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PropagateResult<I> {
    /// The result of the update itself.
    pub update: UpdateResult<I>,
    /// The other documents that were written, and copies in the updated ones: once for each reference beside copies or that
    /// refers back.
    pub propagated: Vec<Propagated>,
}

/// What an update that propagates would write: [`UpdatePropagated::plan`].
///
/// Printed, it lists the collections with the number of documents, the index that finds them, and the guarantee.
#[derive(Debug, Clone)]
pub struct UpdatePlan {
    steps: Vec<Step>,
}

impl<'s, M: Document> UpdateDocuments<'s, M> {
    /// Also writes what follows from what the update changes:
    ///
    /// - the copies that other documents hold of changed fields, and those of the updated documents themselves, where the update
    ///   changes the reference beside them;
    /// - the other side of changed `two_way` references. A document that can have one partner is taken from the former one;
    /// - the summaries to which the documents count or have counted, and those in the documents that the update sets;
    /// - the lists of the newest (`recent`) that the documents belong to or have belonged to.
    ///
    /// The [guarantee](crate::model::Guarantee) of the relation says when. *Strict*: in the same transaction, with
    /// which an insert or another update that depends on the field conflicts. *Settled*: after the transaction, with one update
    /// for each distinct value, until no copy differs; if the call stops before, a record stays for
    /// [`resume_propagation`](crate::Collection::resume_propagation). In a transaction of yours, both are written in it, and the
    /// second look of settled copies belongs to its commit.
    ///
    /// Documents whose copies have the values already are not written. The version and the time of change of the others change
    /// as by any typed update.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// let change = || hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9"));
    /// assert!(change().await.is_err(), "the call has to say what becomes of the copies");
    ///
    /// let result = change().propagate().await?;
    /// assert_eq!((result.update.modified, result.propagated[0].documents), (1, 3));
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.9");
    ///
    /// // Another reference, another copy.
    /// messages.update_by_id(&1, |m| m.host.set(Ref::from(2))).propagate().await?;
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The update is an upsert; or the model has no copies to write, so that `propagate` would say nothing.
    pub fn propagate(self) -> UpdatePropagated<'s, M> {
        PropagatedUpdate::of(self, false)
    }

    /// Leaves copies and summaries in other documents to [`resume_propagation`](crate::Collection::resume_propagation), by a record in
    /// the transaction of the update. Copies in the updated documents, and the other side of `two_way` references, are written
    /// at once, as by [`propagate`](Self::propagate).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// for n in 3..6 {
    ///     hosts.update_by_id(&1, |h| h.ipaddr.set(format!("127.0.0.{n}"))).in_background().await?;
    /// }
    /// // A worker, later:
    /// assert_eq!(hosts.resume_propagation().await?.changes, 3);
    /// let messages = db.collection::<LogMessage>();
    /// assert_eq!(messages.count_documents(|m| m.ipaddr.eq("127.0.0.5")).await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_background(self) -> UpdatePropagated<'s, M> {
        PropagatedUpdate::of(self, true)
    }
}

impl<M: Document> PropagatedUpdate<M> {
    fn of(update: UpdateDocuments<'_, M>, in_background: bool) -> UpdatePropagated<'_, M> {
        let ready = update.repeated().and_then(|(update, session)| {
            let model = M::model();
            let follow = |it: &crate::model::copies::Copies| it.relation.is_some();
            if model.copied()?.is_empty()
                && !model.copies()?.iter().any(follow)
                && model.two_way()?.is_empty()
                && model.summarized()?.is_empty()
                && model.summaries()?.is_empty()
                && model.listed()?.is_empty()
                && model.newest_lists()?.is_empty()
            {
                return Err(Error::usage(
                    "nothing follows from fields of this model, no `copy_of`, no `two_way` reference, no summary and no list of the \
                     newest: update without `propagate`",
                ));
            }
            let derived = Derived::new(model, &update.stale, in_background)?;
            Ok((Self { update, derived }, session))
        });
        Atomic::of_call(ready, M::model())
    }

    /// The documents that the update matches, with the fields from which other data follows.
    async fn matching(&self, channel: &mut Channel<'_>) -> Result<Vec<bson::RawDocumentBuf>> {
        let (find, options) = self.update.find(self.derived.projection());
        let options = Options {
            read_preference: channel.current().read_preference,
            ..options
        };
        channel.of(M::model()).documents(find, options.into()).await
    }

    /// Updates the documents with these `_id`s, if they still match.
    async fn update(&self, channel: &mut Channel<'_>, ids: &Keys) -> Result<UpdateResult<M::Id>> {
        // In a transaction, the filter matches what it has matched.
        if self.update.is_multi() && channel.is_in_transaction() {
            return self.update.update(channel.session(), None).await;
        }
        let mut all: Option<UpdateResult<M::Id>> = None;
        for part in ids.parts() {
            let condition = doc! {"_id": {"$in": part}};
            let result = self
                .update
                .update(channel.session(), Some(condition))
                .await?;
            match &mut all {
                None => all = Some(result),
                Some(all) => {
                    all.matched += result.matched;
                    all.modified += result.modified;
                    all.withheld.extend(result.withheld);
                }
            }
        }
        if let Some(all) = all {
            return Ok(all);
        }
        // Nothing matched; a guard may be the reason.
        let nothing = doc! {"_id": {"$in": []}};
        self.update.update(channel.session(), Some(nothing)).await
    }

    async fn steps(&self, channel: &mut Channel<'_>) -> Result<Vec<Step>> {
        let model = M::model();
        let documents = self.matching(channel).await?;
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let count = documents.len() as u64;
        let collection = channel.collection(model);
        let command = self.update.update(None, None).command()?;
        let own = Step::writes(
            model,
            &collection,
            vec![command],
            "match the filter".to_owned(),
        );
        let mut steps = vec![own.of_documents(count)];
        for kept in &self.derived.made {
            let keys = Keys::at(&kept.key, &documents)?;
            let target = kept.copies.model;
            let mut holders = 0;
            for part in keys.parts() {
                let filter = kept.place.refers_to(&part).into();
                let options = exact_read(channel, target, None);
                let count = Operation::Count { filter };
                holders += channel.of(target).count(count, options).await?;
            }
            if holders > 0 {
                steps.push(self.step(kept, &channel.collection(target), holders));
            }
        }
        for kept in &self.derived.held {
            let mut step = self.step(kept, &collection, count);
            step.reasons.truncate(1);
            steps.push(step);
        }
        for back in &self.derived.back {
            steps.push(back_step(back, channel, count));
        }
        for one in &self.derived.collected {
            let keys = Keys::at(one.reference(), &documents)?;
            steps.push(self.collected_step(one, channel, keys.len() as u64));
        }
        for one in &self.derived.own {
            steps.push(self.collected_step(one, channel, count));
        }
        Ok(steps)
    }

    /// The step of a plan that writes summaries or a list.
    fn collected_step(&self, one: &Collected, channel: &Channel<'_>, documents: u64) -> Step {
        let collection = channel.collection(one.holder());
        let mut step = Step::writes(one.holder(), &collection, Vec::new(), one.step());
        step.reasons.push(self.time(one.is_strict()).to_owned());
        step.of_documents(documents)
    }

    /// When copies and summaries are written.
    fn time(&self, is_strict: bool) -> &'static str {
        match (self.derived.in_background, is_strict) {
            (true, _) => "in the background: by `resume_propagation`",
            (false, true) => "strict: in the transaction of the update",
            (false, false) => "settled: after the transaction of the update",
        }
    }

    /// The step of a plan that writes copies. Their values are known only after the update.
    fn step(&self, kept: &Kept, collection: &str, documents: u64) -> Step {
        let model = kept.copies.model;
        let names: Vec<_> = kept.copies.following().map(|field| field.rust).collect();
        let by = kept.copies.by.join(".");
        let copies = format!("copy `{}` by `{by}`", names.join("`, `"));
        let mut step = Step::writes(model, collection, Vec::new(), copies);
        let path: Vec<&str> = kept.copies.by.iter().map(String::as_str).collect();
        step.reasons.push(match model.index_for(&path) {
            Some(index) => {
                let keys = index.keys.iter().map(|key| key.path.join("."));
                format!(
                    "found by the index on {}",
                    keys.collect::<Vec<_>>().join(", ")
                )
            }
            None => "found by a scan".to_owned(),
        });
        step.reasons.push(self.time(kept.is_strict()).to_owned());
        step.of_documents(documents)
    }
}

/// The step of a plan that writes references which refer back: at most one for each updated document, or each of its list.
fn back_step(back: &BackReference, channel: &Channel<'_>, documents: u64) -> Step {
    let (own, other) = (back.sides.own.field, &back.sides.other);
    let reason = format!(
        "let `{}` follow `{own}`, in those to which it leads and led",
        other.field
    );
    let collection = channel.collection(other.model);
    Step::writes(other.model, &collection, Vec::new(), reason).of_documents(documents)
}

impl<M: Document> WriteSeveral for PropagatedUpdate<M> {
    type Done = PropagateResult<M::Id>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.update.channel()
    }

    fn enter(&mut self, is_callers: bool) {
        self.derived.is_callers = is_callers;
    }

    fn is_several(&self) -> bool {
        self.derived.is_several()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<PropagateResult<M::Id>> {
        let model = M::model();
        let is_atomic = channel.is_in_transaction();
        let mut documents = self.matching(channel).await?;
        let ids = Keys::at(&StoredPath::at("_id"), &documents)?;
        let mut looks = Looks::default();
        let mut fences = Fences::default();
        let collection = channel.collection(model);
        for kept in &self.derived.made {
            let keys = Keys::at(&kept.key, &documents)?;
            kept.fence(channel, &keys, &mut fences)?;
            if self.derived.in_background || !is_atomic || !kept.is_strict() {
                looks.records.add(&collection, kept.key.as_str(), &keys);
            }
            looks.made.push((Arc::clone(kept), keys));
        }
        if !is_atomic {
            looks.records.write(channel, model).await?;
            let derived = &self.derived;
            derived.record_all(channel, &documents, &mut looks).await?;
        }
        let update = self.update(channel, &ids).await?;
        looks.records.write(channel, model).await?;
        // Without a transaction, an insert that fills copies in one waits here, or has committed.
        fences.write(channel, model).await?;
        let mut propagated = Vec::new();
        let made = std::mem::take(&mut looks.made);
        for (kept, keys) in made {
            let is_strict = is_atomic && kept.is_strict();
            if !self.derived.in_background && is_atomic && (is_strict || self.derived.is_callers) {
                let facts = Facts::read(channel, &kept, &keys, false).await?;
                add(
                    &mut propagated,
                    &kept,
                    facts.write(channel, &kept, None).await?,
                );
            }
            if !is_strict {
                looks.made.push((kept, keys));
            }
        }
        let (derived, by_id) = (&self.derived, ("_id", &ids));
        derived
            .write_held(channel, &derived.held, by_id, &mut looks, &mut propagated)
            .await?;
        if derived.reads_after() {
            // Lists get new references in the order of the `_id`s, whatever order the documents were found in.
            documents.sort_by_cached_key(|document| {
                let id = document.get("_id").ok().flatten();
                id.map(|id| key::of(id, None))
            });
            let after = derived.read(channel, &ids).await?;
            derived
                .write_back(channel, &documents, &after, &mut looks, &mut propagated)
                .await?;
            derived
                .write_collected(channel, &documents, &after, &mut looks, &mut propagated)
                .await?;
        }
        derived.keep(looks);
        Ok(PropagateResult { update, propagated })
    }

    async fn settle(&self, mut done: PropagateResult<M::Id>) -> Result<PropagateResult<M::Id>> {
        let mut channel = self.channel();
        let settled = self.derived.settle(&mut channel, &mut done.propagated);
        settled.await.map_err(|error| {
            error.context("the update has taken effect, and its copies are not all written: `resume_propagation` completes them")
        })?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.derived.after_commit(self.channel())
    }
}

impl<M: Document> UpdatePropagated<'_, M> {
    /// Returns what the update would write. Nothing is written.
    ///
    /// The plan is made by the reads that the update itself begins with, and a count for each kind of copies. To run the update,
    /// await it: it reads again. The values of the copies are known only then, so their steps have no commands.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// let plan = hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).propagate().plan().await?;
    /// assert_eq!(
    ///     plan.to_string(),
    ///     "  hosts (Host)
    ///     update 1 document
    ///         match the filter
    ///   logmsg (LogMessage)
    ///     update 3 documents
    ///         copy `ipaddr` by `host`
    ///         found by the index on host
    ///         settled: after the transaction of the update
    /// "
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan(self) -> Result<UpdatePlan> {
        let (writes, session) = self.into_parts()?;
        let mut channel = writes.channel().within(session);
        let steps = writes.steps(&mut channel).await;
        let steps = steps.map_err(|error| error.with_model(M::model().name))?;
        Ok(UpdatePlan { steps })
    }
}

impl UpdatePlan {
    /// The steps: the update, then the copies.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// let plan = hosts.update_by_id(&2, |h| h.ipaddr.set("127.0.0.9")).propagate().plan().await?;
    /// assert_eq!(plan.steps().len(), 1, "no message refers to this host");
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Display for UpdatePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_writes(&self.steps, f)
    }
}

impl<M: Document> fmt::Debug for PropagatedUpdate<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropagatedUpdate({})", M::model().collection)
    }
}
