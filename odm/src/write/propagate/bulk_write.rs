//! Bulk writes that write what follows from them.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document as BsonDocument, RawDocumentBuf};

use super::super::dependents::{DependentDelete, Dependents, add_dependents};
use super::super::planned::{Planned, WriteSteps};
use super::super::references::ChecksReferences;
use super::super::{Atomic, WriteSeveral, afterwards};
use super::derived::{Propagated, add_propagated};
use super::insert::{PropagatedInsert, inserts_propagate};
use super::modify::{Modified, Modify, PropagatedWrite, follows};
use super::plan::Propagates;
use crate::collection::{BulkWrite, BulkWriteResult, Run, Stale, Statements};
use crate::error::{BulkError, Error, Kind, Result};
use crate::exec::{Channel, Keys, refused};
use crate::model::{Document, ModelMeta};
use crate::plan::Step;
use crate::store::options::Options;
use crate::store::{Afterwards, WriteKind};

/// A bulk write and what follows from it, about to be sent: [`BulkWrite::propagate`], [`BulkWrite::in_background`].
///
/// It runs in a transaction: [`non_atomic`](Atomic::non_atomic) is an error.
pub type BulkWritePropagated<'s, M> = Atomic<'s, PropagatedBulk<M>>;

/// The writes of a [`BulkWritePropagated`].
pub struct PropagatedBulk<M: Document> {
    channel: Channel<'static>,
    parts: Vec<Part<M>>,
}

/// The result of a bulk write that [propagates](BulkWrite::propagate).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct BulkPropagateResult {
    /// The result of the writes themselves.
    pub write: BulkWriteResult,
    /// What was done to the documents that referred to deleted ones.
    pub dependents: Vec<Dependents>,
    /// The other documents that were written because of updates and deletes.
    pub propagated: Vec<Propagated>,
}

/// Writes of one kind that follow each other.
enum Part<M: Document> {
    /// With the positions of the documents in the bulk write.
    Insert(PropagatedInsert<M, ()>, Vec<usize>),
    Update(PropagatedWrite<UpdateStatements<M>>),
    Delete(DependentDelete<M>),
    Plain(Statements),
}

/// Updates and replacements of a bulk write.
struct UpdateStatements<M> {
    statements: Statements,
    of: PhantomData<fn() -> M>,
}

impl<'s, M: Document> BulkWrite<'s, M> {
    /// Also writes what follows from the writes, in one transaction:
    ///
    /// - inserted documents get their copies, summaries and lists, as by
    ///   [`InsertOne::propagate`](crate::collection::InsertOne::propagate);
    /// - what follows from updated and replaced documents is written, as by
    ///   [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate);
    /// - deletes do what the model declares to the documents that refer to the deleted ones, as by
    ///   [`Delete::with_dependents`](crate::collection::Delete::with_dependents).
    ///
    /// A write that says [`leave_stale`](crate::collection::Write::leave_stale) or
    /// [`leave_dangling`](crate::collection::Write::leave_dangling) is sent as it is.
    ///
    /// Writes of one kind that follow each other are sent together, so unordered writes need the fewest commands. Before updates
    /// are sent, everything that their filters match is read, 100 filters in one query; deletes by `_id` are one, and each other
    /// delete is sent alone. Name `_id`s in filters where you can: an `update_one` by anything else reads every document that
    /// matches, although it changes one.
    ///
    /// The first failure aborts the transaction, also of unordered writes: then nothing is written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let changes = [(1, "10.0.0.1"), (2, "10.0.0.2")];
    /// let hosts = db.collection::<Host>();
    /// let result = hosts
    ///     .bulk_write(|w| changes.map(|(id, to)| w.update_one(|h| h.id.eq(id), |h| h.ipaddr.set(to))))
    ///     .propagate()
    ///     .await?;
    /// assert_eq!((result.write.modified, result.propagated[0].documents), (2, 3));
    /// let messages = db.collection::<LogMessage>();
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "10.0.0.1");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the single writes; the model has nothing to propagate; or `non_atomic`.
    pub fn propagate(self) -> BulkWritePropagated<'s, M> {
        propagated(self, false)
    }

    /// Like [`propagate`](Self::propagate), and leaves copies, summaries and lists in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation), by records in the transaction of the writes. Deletes write
    /// at once what follows from them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let changes = [(1, "10.0.0.1"), (2, "10.0.0.2")];
    /// let hosts = db.collection::<Host>();
    /// hosts
    ///     .bulk_write(|w| changes.map(|(id, to)| w.update_one(|h| h.id.eq(id), |h| h.ipaddr.set(to))))
    ///     .in_background()
    ///     .await?;
    /// // A worker, later:
    /// assert_eq!(hosts.resume_propagation().await?.documents, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_background(self) -> BulkWritePropagated<'s, M> {
        propagated(self, true)
    }

    /// Also checks that each reference that is new in an inserted or changed document leads to a document; see
    /// [`Atomic::check_references`].
    ///
    /// They are checked after each step of writes of one kind: a document may refer to one that the same step inserts. Writes
    /// from which other data follows take `propagate` first: `.propagate().check_references()`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// let inserts = [1, 8].map(|author| Book { id: 20 + author, author: Ref::from(author) });
    /// let bulk = books.bulk_write(|w| inserts.iter().map(move |book| w.insert_one(book)));
    /// assert!(bulk.check_references().await.unwrap_err().is_dangling());
    /// assert!(books.get(&21).await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(mut self) -> BulkWritePropagated<'s, M> {
        let said = self.check_words();
        let ready = said.and_then(|()| {
            let (statements, session) = self.statements()?;
            Ok((PropagatedBulk::checked(statements)?, session))
        });
        Atomic::of_call(ready, M::model())
    }
}

fn propagated<M: Document>(
    bulk: BulkWrite<'_, M>,
    in_background: bool,
) -> BulkWritePropagated<'_, M> {
    let ready = bulk.statements().and_then(|(statements, session)| {
        let bulk = PropagatedBulk::new(statements, in_background)?;
        Ok((bulk, session))
    });
    Atomic::of_call(ready, M::model())
}

impl<M: Document> PropagatedBulk<M> {
    fn new(statements: Statements, in_background: bool) -> Result<Self> {
        let model = M::model();
        if !follows(model)? && model.dependents().next().is_none() {
            return Err(Error::usage(
                "nothing follows from writes of this model, no `copy_of`, no `two_way` reference, no summary, no list of the newest \
                 and no `on_delete`: write without `propagate`",
            ));
        }
        let channel = statements.channel();
        let mut parts = Vec::new();
        for run in statements.runs() {
            match run {
                Run::Inserts(statements) => {
                    let documents = statements.documents();
                    parts.push(if inserts_propagate(model)? {
                        let insert = PropagatedInsert::new(documents, |_| Ok(()), in_background)?;
                        Part::Insert(insert, statements.positions())
                    } else {
                        Part::Plain(statements)
                    });
                }
                Run::Updates(statements, stale) => {
                    let change = UpdateStatements::new(statements);
                    let update = PropagatedWrite::new(change, &stale, in_background)?;
                    parts.push(Part::Update(update));
                }
                Run::Deletes(statements) => {
                    for matching in statements.deletes()? {
                        let delete =
                            DependentDelete::of_matching(channel.in_session(None), matching)?;
                        parts.push(Part::Delete(delete));
                    }
                }
                Run::Plain(statements) => parts.push(Part::Plain(statements)),
            }
        }
        Ok(Self { channel, parts })
    }
}

impl<M: Document> PropagatedBulk<M> {
    /// A bulk write that only checks references.
    fn checked(statements: Statements) -> Result<Self> {
        let channel = statements.channel();
        let parts = statements.runs().into_iter().map(|run| match run {
            Run::Inserts(statements)
            | Run::Updates(statements, _)
            | Run::Deletes(statements)
            | Run::Plain(statements) => Part::checked(statements),
        });
        Ok(Self {
            channel,
            parts: parts.collect::<Result<_>>()?,
        })
    }
}

impl<M: Document> ChecksReferences for PropagatedBulk<M> {
    fn check_references(&mut self) -> Result<()> {
        for part in &mut self.parts {
            match part {
                Part::Insert(insert, _) => insert.check_references()?,
                Part::Update(update) => update.check_references()?,
                Part::Delete(_) => {}
                Part::Plain(statements) => *part = Part::checked(statements.clone())?,
            }
        }
        Ok(())
    }
}

impl BulkPropagateResult {
    fn add(&mut self, other: Self) {
        self.write.add(other.write, |position| position);
        for dependents in other.dependents {
            add_dependents(&mut self.dependents, dependents);
        }
        for propagated in other.propagated {
            add_propagated(&mut self.propagated, propagated);
        }
    }
}

/// The error of an insert with the positions of its documents in the bulk write.
fn in_bulk(error: Error, positions: &[usize], model: &'static ModelMeta) -> Error {
    let Kind::Bulk(bulk) = error.kind() else {
        return error;
    };
    let mut all = BulkError::default();
    all.add(bulk.clone(), |index| {
        positions.get(index).copied().unwrap_or(index)
    });
    refused(Error::new(all), model)
}

impl<M: Document> Part<M> {
    /// Writes of one kind whose references are checked, and which leave other documents as they are.
    fn checked(statements: Statements) -> Result<Self> {
        match statements.kind() {
            Some(WriteKind::Insert) => {
                let insert = PropagatedInsert::checked(statements.documents(), |_| Ok(()))?;
                Ok(Self::Insert(insert, statements.positions()))
            }
            Some(WriteKind::Update) => {
                let change = UpdateStatements::new(statements);
                let mut update = PropagatedWrite::new(change, &Stale::default(), false)?;
                update.check_references()?;
                Ok(Self::Update(update))
            }
            _ => Ok(Self::Plain(statements)),
        }
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<BulkPropagateResult> {
        let model = M::model();
        let mut result = BulkPropagateResult::default();
        match self {
            Self::Insert(insert, positions) => {
                let inserted = insert.write(channel).await;
                inserted.map_err(|error| in_bulk(error, positions, model))?;
                result.write.inserted = positions.len() as u64;
            }
            Self::Update(update) => result = update.write(channel).await?,
            Self::Delete(delete) => {
                let done = delete.write(channel).await?;
                result.write.deleted = done.deleted;
                result.dependents = done.dependents;
                result.propagated = done.propagated;
            }
            Self::Plain(statements) => result.write = statements.send(channel, model).await?,
        }
        Ok(result)
    }

    /// Looks again after the writes have taken effect.
    async fn settle(&self, done: &mut BulkPropagateResult) -> Result<()> {
        match self {
            Self::Insert(insert, _) => insert.look_again().await,
            Self::Update(update) => {
                let settled = update.settle(BulkPropagateResult::default()).await?;
                done.add(settled);
                Ok(())
            }
            Self::Delete(delete) => {
                let mut propagated = Vec::new();
                delete.look_again(&mut propagated).await?;
                for one in propagated {
                    add_propagated(&mut done.propagated, one);
                }
                Ok(())
            }
            Self::Plain(_) => Ok(()),
        }
    }

    fn enter(&mut self, is_callers: bool) {
        match self {
            Self::Insert(insert, _) => insert.enter(is_callers),
            Self::Update(update) => update.enter(is_callers),
            Self::Delete(delete) => delete.enter(is_callers),
            Self::Plain(_) => {}
        }
    }

    fn after_commit(&self) -> Option<Afterwards> {
        match self {
            Self::Insert(insert, _) => insert.after_commit(),
            Self::Update(update) => update.after_commit(),
            Self::Delete(delete) => delete.after_commit(),
            Self::Plain(_) => None,
        }
    }
}

impl<M> UpdateStatements<M> {
    fn new(statements: Statements) -> Self {
        let of = PhantomData;
        Self { statements, of }
    }
}

impl<M: Document> Modify for UpdateStatements<M> {
    type Model = M;
    type Done = BulkPropagateResult;

    fn channel(&self) -> Channel<'static> {
        self.statements.channel()
    }

    async fn matching(
        &self,
        channel: &mut Channel<'_>,
        projection: BsonDocument,
    ) -> Result<Vec<RawDocumentBuf>> {
        let mut ids = Keys::default();
        let mut matching = Vec::new();
        for (find, options) in self.statements.finds(&projection)? {
            let options = Options {
                read_preference: channel.current().read_preference,
                ..options
            };
            let found = channel.of(M::model()).documents(find, options.into());
            for document in found.await? {
                let known = ids.len();
                if let Some(id) = document.get("_id").map_err(Error::encode)? {
                    ids.add(id)?;
                }
                if ids.len() > known {
                    matching.push(document);
                }
            }
        }
        Ok(matching)
    }

    async fn modify(
        &self,
        channel: &mut Channel<'_>,
        _matched: &[RawDocumentBuf],
    ) -> Result<Modified<BulkPropagateResult>> {
        let write = self.statements.send(channel, M::model()).await?;
        let inserted: Vec<Bson> = write.upserted_ids.values().cloned().collect();
        let done = BulkPropagateResult {
            write,
            ..BulkPropagateResult::default()
        };
        Ok(Modified {
            done,
            inserted,
            operators: None,
        })
    }

    fn commands(&self) -> Result<Vec<BsonDocument>> {
        self.statements.commands()
    }

    fn propagated(done: &mut BulkPropagateResult) -> Option<&mut Vec<Propagated>> {
        Some(&mut done.propagated)
    }
}

impl<M: Document> Propagates for PropagatedBulk<M> {}

impl<M: Document> WriteSteps for PropagatedBulk<M> {
    async fn add_to(&self, channel: &mut Channel<'_>, plan: &mut Planned) -> Result<()> {
        let model = M::model();
        for part in &self.parts {
            match part {
                Part::Insert(insert, _) => insert.add_to(channel, plan).await?,
                Part::Update(update) => update.add_to(channel, plan).await?,
                Part::Delete(delete) => delete.add_to(channel, plan).await?,
                Part::Plain(statements) => {
                    let collection = channel.collection(model);
                    let reason = "as it is".to_owned();
                    let commands = statements.commands()?;
                    plan.add_call(channel, model, commands.clone(), &[])?;
                    let step = Step::writes(model, &collection, commands, reason);
                    plan.steps.push(step);
                }
            }
        }
        Ok(())
    }
}

impl<M: Document> WriteSeveral for PropagatedBulk<M> {
    type Done = BulkPropagateResult;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.channel.in_session(None)
    }

    fn enter(&mut self, is_callers: bool) {
        for part in &mut self.parts {
            part.enter(is_callers);
        }
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<BulkPropagateResult> {
        if !channel.is_in_transaction() {
            return Err(Error::usage(
                "a bulk write propagates in a transaction: leave `non_atomic()` out, or send the writes one by one",
            ));
        }
        let mut done = BulkPropagateResult::default();
        for part in &self.parts {
            done.add(part.write(channel).await?);
        }
        Ok(done)
    }

    async fn settle(&self, mut done: BulkPropagateResult) -> Result<BulkPropagateResult> {
        for part in &self.parts {
            part.settle(&mut done).await?;
        }
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        afterwards(self.parts.iter().filter_map(Part::after_commit).collect())
    }
}

impl<M: Document> fmt::Debug for PropagatedBulk<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropagatedBulk({})", M::model().collection)
    }
}
