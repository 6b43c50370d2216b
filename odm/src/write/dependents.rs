//! Deletes of documents with those that refer to them: `on_delete` of inverse relations.
//!
//! [`Effects`] reads which documents refer to the deleted ones, from model to model, and says what is written: dependents
//! first, and the documents that the caller named last. So a delete that stops between two commands leaves no reference to a
//! document that it has deleted, unless another client inserts one meanwhile.

mod effects;
mod find_and_delete;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bson::{Document as BsonDocument, RawDocumentBuf, doc};

use self::effects::{Deleted, Effects, deletes_of, ids, projection};
pub use self::find_and_delete::FindOneAndDeleteWithDependents;
use super::expecting::Expecting;
use super::planned::{Planned, WriteSteps};
use super::propagate::{Derived, Looks, Propagated, count_written};
use super::{Atomic, WriteSeveral};
use crate::collection::{Call, Delete, Matching, check_dependents};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::{Document, ModelMeta, OnDelete};
use crate::plan::{self, Action, Step};
use crate::store::options::{Chosen, Options};
use crate::store::{Afterwards, Condition, Operation, Request, Session};

/// A delete of documents with those that refer to them, about to be sent: [`Delete::with_dependents`].
///
/// [Without a transaction](Atomic::non_atomic), dependents are written before the documents to which they refer, and looked
/// for once more afterwards. If the delete stops, the same call completes it, as long as one of the documents that match is
/// left. Two things can dangle: a document that `restrict` has not seen, because another client inserts it meanwhile; and one
/// that is inserted before a delete that stops between its last document and the second look.
pub type DeleteWithDependents<'s, M> = Atomic<'s, DependentDelete<M>>;

/// The writes of a [`DeleteWithDependents`].
pub struct DependentDelete<M> {
    model: &'static ModelMeta,
    channel: Channel<'static>,
    filter: Condition,
    multi: bool,
    /// The options of the read that finds the documents.
    options: Chosen,
    /// What the last attempt has to look at again.
    derived: Derived,
    of: PhantomData<fn() -> M>,
}

/// The result of a [delete with dependents](Delete::with_dependents).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteWithDependentsResult {
    /// How many documents were deleted that matched the filter.
    pub deleted: u64,
    /// What was done to the documents that referred to them, once for each relation that had any.
    pub dependents: Vec<Dependents>,
    /// The documents that were written because they referred back to deleted ones by a `two_way` reference, or hold summaries
    /// of them or lists of the newest.
    pub propagated: Vec<Propagated>,
}

/// What a delete did to the documents that referred to deleted ones by a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependents {
    /// The model that declares the relation, such as `Author`.
    pub model: &'static str,
    /// The name of the relation, such as `books`.
    pub relation: &'static str,
    /// What was done.
    pub on_delete: OnDelete,
    /// How many documents were deleted or updated.
    pub documents: u64,
}

/// What a delete with dependents would do: [`DeleteWithDependents::plan`].
///
/// Printed, it lists the collections in the order in which the delete writes to them, with the number of documents and the
/// relation behind each.
#[derive(Debug, Clone)]
pub struct DeletePlan {
    planned: Arc<Planned>,
}

/// What a delete says about the documents that refer to the deleted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForDependents {
    Unsaid,
    Act,
    Leave,
}

impl ForDependents {
    /// Refuses a delete that has to say something, and does not.
    pub(crate) fn check(self, model: &'static ModelMeta) -> Result<()> {
        match self {
            Self::Unsaid => check_dependents(model, false),
            Self::Act | Self::Leave => Ok(()),
        }
    }
}

/// Does what is declared to the documents that refer to those that match, which another feature deletes afterwards.
pub(crate) async fn act(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    filter: BsonDocument,
) -> Result<()> {
    let find = Operation::Find {
        filter: filter.into(),
        one: false,
    };
    let options = Options {
        projection: Some(projection(model)?),
        ..channel.current()
    };
    let documents = channel.of(model).documents(find, options.into()).await?;
    let effects = Effects::find(channel, vec![Deleted { model, documents }]).await?;
    effects.fences(channel)?.write(channel, model).await?;
    effects.check(channel).await?;
    for effect in effects.in_order() {
        effect.write(channel).await?;
    }
    for (back, links) in effects.back()? {
        back.write(channel, &links).await?;
    }
    Ok(())
}

impl DeletePlan {
    /// The plan of writes in a session.
    async fn of<W: WriteSteps>(writes: &W, session: Option<&mut Session>) -> Result<Self> {
        let mut channel = writes.channel().in_session(session);
        let planned = Planned::of(writes, &mut channel).await?;
        Ok(Self {
            planned: Arc::new(planned),
        })
    }

    /// The steps, in the order in which they are written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let plan = db.collection::<Author>().delete_by_id(&1).with_dependents().plan().await?;
    /// let collections: Vec<_> = plan.steps().iter().map(|step| step.collection.as_str()).collect();
    /// assert_eq!(collections, ["books", "authors"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.planned.steps
    }
}

impl fmt::Display for DeletePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_writes(&self.planned.steps, f)
    }
}

/// Prints steps that write documents under the names of their collections, with the reasons for each.
pub(super) fn print_writes(steps: &[Step], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if steps.is_empty() {
        return f.write_str("no document matches\n");
    }
    let mut before = None;
    for step in steps {
        let collection = step.collection.as_str();
        if before != Some(collection) {
            writeln!(f, "  {collection} ({})", step.model)?;
            before = Some(collection);
        }
        let first = step.commands.first();
        let is = |name: &str| first.is_some_and(|command| command.contains_key(name));
        let mut verbs = ["delete", "insert"].into_iter();
        let verb = verbs.find(|verb| is(verb)).unwrap_or("update");
        if let Action::WriteDocuments { count } = step.action {
            writeln!(f, "    {verb} {}", plan::documents(count))?;
        }
        for reason in &step.reasons {
            writeln!(f, "        {reason}")?;
        }
    }
    Ok(())
}

impl<'s, M: Document> Delete<'s, M> {
    /// Also does what the relations of the model declare by `on_delete` to the documents that refer to the deleted ones, at
    /// any depth.
    ///
    /// All is one transaction. Where the deployment has no transactions, this fails before anything is written, unless you
    /// say [`non_atomic`](DeleteWithDependents::non_atomic).
    ///
    /// - `restrict`: a document that refers to a deleted one, and is not deleted itself, is an error
    ///   ([`is_restricted`](crate::Error::is_restricted)), and nothing is written.
    /// - `cascade`: the documents are deleted, with what refers to them.
    /// - `set_null`: the references become null; the field is removed if it has `skip_serializing_if`.
    /// - `pull`: the references are removed from their list; of a list of subdocuments, the subdocument is removed.
    ///
    /// Documents that refer back to a deleted one by a `two_way` reference lose this reference. One that must have it, and is
    /// not deleted itself, is an error as for `restrict`.
    ///
    /// Summaries of deleted documents, such as a `count_of`, are computed again. Lists of the newest that they are in get the
    /// next older ones.
    ///
    /// The version and the time of change of updated documents change as by any typed update. Strings are compared exactly,
    /// also in a collection with a collation.
    ///
    /// The number of commands depends on the relations, not on the documents: for each relation and level one read, if the
    /// documents are deleted and others refer to them, and one write. The `_id`s of such documents are kept in memory.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let authors = db.collection::<Author>();
    /// assert!(authors.delete_by_id(&1).await.is_err(), "the call has to say what becomes of the books");
    ///
    /// let result = authors.delete_by_id(&1).with_dependents().await?;
    /// assert_eq!((result.deleted, result.dependents[0].documents), (1, 3));
    /// assert_eq!(db.collection::<Book>().estimated_document_count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A cascade leads to nodes of a [tree](crate::tree), which only the tree deletes; or a document restricts the delete.
    pub fn with_dependents(self) -> DeleteWithDependents<'s, M> {
        Atomic::of_call(DependentDelete::new(self), M::model())
    }
}

impl<'s, M: Document> DeleteWithDependents<'s, M> {
    /// Returns what the delete would do. Nothing is written.
    ///
    /// The plan is made by the reads that the delete itself begins with. To run the delete, await it: it reads again. After
    /// [`expecting`](Self::expecting), it runs only if the plan still holds.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let plan = db.collection::<Author>().delete_by_id(&1).with_dependents().plan().await?;
    /// assert_eq!(
    ///     plan.to_string(),
    ///     "  books (Book)
    ///     delete 3 documents
    ///         `Author.books` declares `on_delete = cascade`
    ///         refer to 1 document by `author`, found by the index on author
    ///   authors (Author)
    ///     delete 1 document
    ///         match the filter
    /// "
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The delete would fail: [`is_restricted`](crate::Error::is_restricted).
    pub async fn plan(self) -> Result<DeletePlan> {
        let (writes, session) = self.into_parts()?;
        DeletePlan::of(&writes, session).await
    }

    /// Runs the delete only if this plan still holds. The delete makes its plan again in its transaction before it writes anything,
    /// and is refused if the plan differs. If the transaction is tried again, it compares again.
    ///
    /// The comparison covers:
    ///
    /// - the call: the collection, the filter, and the options by which it finds documents;
    /// - the documents that match, and those that are deleted with them and to which others refer in turn: their `_id`s, their
    ///   version if the model has one, and the fields by which others refer to them. Other fields may have changed: where that
    ///   matters, name their values in the filter;
    /// - the numbers of all other documents that are deleted or updated. Such a document that has taken the place of another is not
    ///   noticed, because only a read of all of them could find it.
    ///
    /// Where several documents match a `delete_one`, name a filter that only one matches: MongoDB may choose another each time that
    /// it reads.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
    /// let delete = || authors.delete_by_id(&1).with_dependents();
    /// let plan = delete().plan().await?;
    ///
    /// // While somebody reads the plan, a book is published.
    /// books.insert_one(&Book { id: 4, author: Ref::from(1) }).await?;
    /// assert!(delete().expecting(&plan).await.unwrap_err().is_outdated_plan());
    ///
    /// let plan = delete().plan().await?;
    /// assert_eq!(delete().expecting(&plan).await?.dependents[0].documents, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_outdated_plan`](crate::Error::is_outdated_plan): the plan differs, or is of another call. With
    /// [`non_atomic`](Self::non_atomic), nothing is sent, because documents could change between the comparison and the write.
    pub fn expecting(self, plan: &DeletePlan) -> Atomic<'s, Expecting<DependentDelete<M>>> {
        self.if_planned(&plan.planned)
    }
}

impl<M: Document> DependentDelete<M> {
    /// The writes of a delete, and the session in which it runs.
    fn new(delete: Delete<'_, M>) -> Result<(Self, Option<&mut Session>)> {
        Self::of(delete.call)
    }

    fn of(mut call: Call<'_>) -> Result<(Self, Option<&mut Session>)> {
        if call.request.options.write_concern.is_some() {
            return Err(Error::usage(
                "`with_dependents` runs in a transaction, which has the write concern of the client: set it there",
            ));
        }
        call.leaves_dangling = true;
        let defaults = call.defaults.clone();
        let (store, request, session) = call.prepare()?;
        let (filter, multi) = match request.operation {
            Operation::Delete { filter, multi } => (filter, multi),
            Operation::FindAndDelete { filter } => (filter, false),
            _ => return Err(Error::usage("only a delete has dependents")),
        };
        let concern = defaults.and_then(|defaults| defaults.write_concern.clone());
        let options = Options {
            projection: Some(projection(M::model())?),
            write_concern: None,
            ..Options::clone(&request.options)
        };
        let writes = Self {
            model: M::model(),
            channel: Channel::new(store, None).with_write_concern(concern),
            filter,
            multi,
            options: options.into(),
            derived: Derived::of_delete(M::model())?,
            of: PhantomData,
        };
        Ok((writes, session))
    }

    /// A delete of what matches, whose writes are sent with the concern of the channel.
    pub(super) fn of_matching(channel: Channel<'static>, matching: Matching) -> Result<Self> {
        let Matching {
            filter,
            multi,
            options,
        } = matching;
        let options = Options {
            projection: Some(projection(M::model())?),
            ..options
        };
        Ok(Self {
            model: M::model(),
            channel,
            filter: filter.into(),
            multi,
            options: options.into(),
            derived: Derived::of_delete(M::model())?,
            of: PhantomData,
        })
    }
}

/// Deletes the documents that match with those that refer to them, as the models declare it; returns how many were deleted, and
/// the writes that follow the commit of the transaction.
pub(crate) async fn delete_with_dependents(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    filter: BsonDocument,
) -> Result<(u64, Option<Afterwards>)> {
    let options = Options {
        projection: Some(projection(model)?),
        ..Options::default()
    };
    let mut delete = DependentDelete::<()> {
        model,
        channel: channel.in_session(None),
        filter: filter.into(),
        multi: true,
        options: options.into(),
        derived: Derived::of_delete(model)?,
        of: PhantomData,
    };
    delete.enter(channel.is_in_transaction());
    let done = delete.write(channel).await?;
    if channel.is_in_transaction() {
        return Ok((done.deleted, delete.after_commit()));
    }
    let done = delete.settle(done).await?;
    Ok((done.deleted, None))
}

impl<M> DependentDelete<M> {
    /// The read of the documents to delete.
    fn find(&self) -> Operation {
        Operation::Find {
            filter: self.filter.clone(),
            one: !self.multi,
        }
    }

    /// Reads the documents to delete: their `_id`s, and the fields by which others refer to them.
    async fn matching(&self, channel: &mut Channel<'_>) -> Result<Vec<RawDocumentBuf>> {
        let options = Options {
            read_preference: channel.current().read_preference,
            ..Options::clone(&self.options)
        };
        let raw = channel.of(self.model);
        raw.documents(self.find(), options.into()).await
    }

    /// Deletes these documents, with those that refer to them.
    async fn delete(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<DeleteWithDependentsResult> {
        let model = self.model;
        let mut result = DeleteWithDependentsResult {
            deleted: 0,
            dependents: Vec::new(),
            propagated: Vec::new(),
        };
        if documents.is_empty() {
            return Ok(result);
        }
        let ids = ids(&documents)?;
        let mut effects = Effects::find(channel, vec![Deleted { model, documents }]).await?;
        let fences = effects.fences(channel)?;
        fences.write(channel, model).await?;
        effects.check(channel).await?;
        result.add(channel, &effects).await?;
        let is_atomic = channel.is_in_transaction();
        let mut looks = Looks::default();
        if !is_atomic {
            result.unlink(channel, &effects).await?;
            for (one, keys) in effects.collected()? {
                let derived = &self.derived;
                derived.record(channel, &one, &keys, &mut looks).await?;
            }
        }
        for statement in deletes_of(model, &ids) {
            result.deleted += channel.of(model).delete_by(vec![statement]).await?;
        }
        if is_atomic {
            // Deleted documents do not need the references that they lose.
            result.unlink(channel, &effects).await?;
            self.write_collected(channel, &effects, looks, &mut result)
                .await?;
            return Ok(result);
        }
        // Other clients may have inserted dependents since they were looked for. Inserts that have not seen that the
        // documents are gone have committed before this write of the fences, or fail by it.
        fences.write(channel, model).await?;
        loop {
            effects = Effects::find(channel, effects.documents).await?;
            if !result.add(channel, &effects).await? {
                break;
            }
        }
        self.write_collected(channel, &effects, looks, &mut result)
            .await?;
        Ok(result)
    }

    /// Looks again after the delete has taken effect.
    pub(super) async fn look_again(&self, done: &mut Vec<Propagated>) -> Result<()> {
        let mut channel = self.channel.in_session(None);
        let settled = self.derived.settle(&mut channel, done).await;
        settled.map_err(|error| {
            error.context("the documents are deleted, and summaries may be stale: `resume_propagation` writes them")
        })
    }

    /// Writes the summaries to which deleted documents have counted, and the lists that they were in.
    async fn write_collected(
        &self,
        channel: &mut Channel<'_>,
        effects: &Effects,
        mut looks: Looks,
        result: &mut DeleteWithDependentsResult,
    ) -> Result<()> {
        let done = &mut result.propagated;
        for (one, keys) in effects.collected()? {
            let written = self.derived.collect(channel, &one, &keys, &mut looks, done);
            written.await?;
        }
        self.derived.keep(looks);
        Ok(())
    }
}

/// Adds documents that were written because of a relation.
pub(super) fn add_dependents(done: &mut Vec<Dependents>, one: Dependents) {
    let mut known = done.iter_mut();
    match known.find(|known| known.model == one.model && known.relation == one.relation) {
        Some(known) => known.documents += one.documents,
        None => done.push(one),
    }
}

impl DeleteWithDependentsResult {
    /// Takes deleted documents out of the references that refer back.
    async fn unlink(&mut self, channel: &mut Channel<'_>, effects: &Effects) -> Result<()> {
        for (back, links) in effects.back()? {
            let written = back.write(channel, &links).await?;
            count_written(&mut self.propagated, &back, &written);
        }
        Ok(())
    }

    /// Writes the effects, and adds what they did; returns whether they did anything.
    async fn add(&mut self, channel: &mut Channel<'_>, effects: &Effects) -> Result<bool> {
        let mut any = false;
        for effect in effects.in_order() {
            let documents = effect.write(channel).await?;
            if documents == 0 {
                continue;
            }
            any = true;
            let dependents = Dependents {
                model: effect.model.name,
                relation: effect.relation.name,
                on_delete: effect.policy,
                documents,
            };
            add_dependents(&mut self.dependents, dependents);
        }
        Ok(any)
    }
}

impl<M> WriteSeveral for DependentDelete<M> {
    type Done = DeleteWithDependentsResult;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn channel(&self) -> Channel<'static> {
        self.channel.in_session(None)
    }

    fn enter(&mut self, is_callers: bool) {
        self.derived.enter(is_callers);
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<DeleteWithDependentsResult> {
        let documents = self.matching(channel).await?;
        self.delete(channel, documents).await
    }

    async fn settle(
        &self,
        mut done: DeleteWithDependentsResult,
    ) -> Result<DeleteWithDependentsResult> {
        self.look_again(&mut done.propagated).await?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.derived.after_commit(self.channel())
    }
}

impl<M> WriteSteps for DependentDelete<M> {
    async fn add_to(&self, channel: &mut Channel<'_>, plan: &mut Planned) -> Result<()> {
        let model = self.model;
        let call = Request {
            collection: channel.collection(model),
            operation: self.find(),
            options: self.options.clone(),
        };
        plan.add_call(channel, model, vec![call.command()?], &[])?;
        let documents = self.matching(channel).await?;
        if documents.is_empty() {
            return Ok(());
        }
        let ids = ids(&documents)?;
        plan.add_read(channel, model, "match the filter", &documents)?;
        let effects = Effects::find(channel, vec![Deleted { model, documents }]).await?;
        effects.check(channel).await?;
        // The first are those that match.
        for Deleted { model, documents } in effects.documents.iter().skip(1) {
            plan.add_read(channel, model, "are deleted with others", documents)?;
        }
        let steps = &mut plan.steps;
        for effect in effects.in_order() {
            let count = effect.count(channel).await?;
            if count > 0 {
                steps.push(effect.step(&channel.collection(effect.place.model), count)?);
            }
        }
        for (back, links) in effects.back()? {
            let count = back.count_removed(channel, &links).await?;
            if count > 0 {
                let (own, other) = (&back.sides.own, &back.sides.other);
                let reason = format!(
                    "take deleted documents of `{}` out of `{}`, which refers back",
                    own.model.name, other.field
                );
                let collection = channel.collection(other.model);
                let step = Step::writes(other.model, &collection, Vec::new(), reason);
                steps.push(step.of_documents(count));
            }
        }
        for (one, keys) in effects.collected()? {
            let (holder, reason) = (one.holder(), one.step());
            let reason = format!("{reason}, without deleted documents");
            let step = Step::writes(holder, &channel.collection(holder), Vec::new(), reason);
            steps.push(step.of_documents(keys.len() as u64));
        }
        let collection = channel.collection(self.model);
        let statements = self.model.shown(deletes_of(model, &ids));
        let command = doc! {"delete": &*collection, "deletes": statements};
        let reason = "match the filter".to_owned();
        let step = Step::writes(self.model, &collection, vec![command], reason);
        steps.push(step.of_documents(ids.len() as u64));
        Ok(())
    }
}

impl<M> fmt::Debug for DependentDelete<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.model.collection;
        write!(f, "DeleteWithDependents({name}, {:?})", self.filter)
    }
}
