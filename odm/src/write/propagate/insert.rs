//! Inserts of documents with what follows from them, and from others in them.

use std::fmt;

use bson::RawDocumentBuf;

use super::super::collected::Collected;
use super::super::copies::facts::{Facts, Holders};
use super::super::copies::kept::Kept;
use super::super::fences::Fences;
use super::super::planned::{Planned, WriteSteps};
use super::super::references::ChecksReferences;
use super::super::{Atomic, WriteSeveral};
use super::derived::{Derived, Looks};
use super::plan::Propagates;
use crate::collection::{Encoded, InsertMany, InsertManyResult, InsertOne, InsertOneResult, Stale};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::{Document, ModelMeta};
use crate::plan::Step;
use crate::store::{Afterwards, Session};

/// The insert of a document and of what follows from it, about to be sent: [`InsertOne::propagate`].
///
/// [Without a transaction](Atomic::non_atomic), the copied fields are read before the insert and once more after it.
pub type InsertOnePropagated<'s, M> =
    Atomic<'s, PropagatedInsert<M, InsertOneResult<<M as Document>::Id>>>;

/// The insert of documents and of what follows from them, about to be sent: [`InsertMany::propagate`].
///
/// [Without a transaction](Atomic::non_atomic), the copied fields are read before the insert and once more after it.
pub type InsertManyPropagated<'s, M> =
    Atomic<'s, PropagatedInsert<M, InsertManyResult<<M as Document>::Id>>>;

/// The writes of an [`InsertOnePropagated`] or [`InsertManyPropagated`].
pub struct PropagatedInsert<M: Document, R> {
    documents: Encoded<M>,
    copies: Vec<&'static Kept>,
    derived: Derived,
    /// Makes the result.
    done: fn(InsertManyResult<M::Id>) -> Result<R>,
}

/// Documents to insert, and what an insert of them still has to do.
pub(crate) struct Filled {
    pub(crate) documents: Vec<RawDocumentBuf>,
    fences: Fences,
    /// The keys of references to check.
    checked: Vec<Keys>,
    looks: Looks,
}

impl<'s, M: Document> InsertOne<'s, M> {
    /// Also writes what follows from the document in others, and fills what follows from others in it:
    ///
    /// - each field that is declared as a `copy_of`, from the document to which the reference beside it leads. What the struct
    ///   holds there is not stored. Where the reference is `None`, the copy becomes null; a field with `skip_serializing_if` is
    ///   left out;
    /// - the other side of its `two_way` references, which may take the documents from those to which they refer so far;
    /// - the summaries to which it counts, such as a `count_of`, and those that it holds;
    /// - the lists of the newest (`recent`) that it belongs to, and those that it holds.
    ///
    /// All is one transaction, except for a document that has nothing but settled copies.
    ///
    /// By the [guarantee](crate::model::Guarantee) of the relation, a change of the copied field at the same time
    /// leaves no stale copy: *strict*, the insert is a transaction that writes a fence of the document to which the reference
    /// leads; *settled*, it reads the fields once more after the insert, and needs no transaction.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// let message = LogMessage { id: 9, host: Ref::from(2), ipaddr: String::new() };
    /// messages.insert_one(&message).propagate().await?;
    /// assert_eq!(messages.get(&9).await?.ok_or("no message")?.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_dangling`](Error::is_dangling): a reference beside a copy leads to no document.
    /// [`is_nothing_to_copy`](Error::is_nothing_to_copy): the document lacks the field, and the copy can't be none.
    pub fn propagate(self) -> InsertOnePropagated<'s, M> {
        filled(self.encoded(true), first, false)
    }

    /// Like [`propagate`](Self::propagate), and leaves summaries in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation), by a record in the transaction of the insert. It computes
    /// them once for all changes of a document that it finds.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/summaries.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_products().await?;
    /// let (products, reviews) = (db.collection::<Product>(), db.collection::<Review>());
    /// let review = Review { id: 9, product: Ref::from(2), stars: 4, helpful: 0 };
    /// reviews.insert_one(&review).in_background().await?;
    /// assert_eq!(products.get(&2).await?.ok_or("no product")?.review_count, 0);
    /// // A worker, later:
    /// assert_eq!(products.resume_propagation().await?.changes, 1);
    /// assert_eq!(products.get(&2).await?.ok_or("no product")?.review_count, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_background(self) -> InsertOnePropagated<'s, M> {
        filled(self.encoded(true), first, true)
    }
}

pub(super) fn first<I>(result: InsertManyResult<I>) -> Result<InsertOneResult<I>> {
    let id = result.inserted_ids.into_iter().next();
    let inserted_id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
    Ok(InsertOneResult { inserted_id })
}

impl<'s, M: Document> InsertMany<'s, M> {
    /// Also writes what follows from the documents in others, and fills what follows from others in them: with one query for each
    /// reference that has copies beside it, and one for each relation that is summarized. See [`InsertOne::propagate`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// messages.insert_many([message(8, 1), message(9, 2)]).propagate().await?;
    /// let addresses: Vec<_> = messages.find(|m| m.id.gte(8)).all().await?.into_iter().map(|m| m.ipaddr).collect();
    /// assert_eq!(addresses, ["127.0.0.1", "127.0.0.2"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`InsertOne::propagate`]; no document is inserted then.
    pub fn propagate(self) -> InsertManyPropagated<'s, M> {
        filled(self.encoded(true), Ok, false)
    }

    /// Like [`propagate`](Self::propagate), and leaves summaries in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation); see [`InsertOne::in_background`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/summaries.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_products().await?;
    /// let (products, reviews) = (db.collection::<Product>(), db.collection::<Review>());
    /// let review = |id, stars| Review { id, product: Ref::from(2), stars, helpful: 0 };
    /// reviews.insert_many([review(8, 2), review(9, 4)]).in_background().await?;
    /// products.resume_propagation().await?;
    /// assert_eq!(products.get(&2).await?.ok_or("no product")?.stars, Some(3.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_background(self) -> InsertManyPropagated<'s, M> {
        filled(self.encoded(true), Ok, true)
    }
}

fn filled<M: Document, R>(
    encoded: Result<(Encoded<M>, Option<&mut Session>)>,
    done: fn(InsertManyResult<M::Id>) -> Result<R>,
    in_background: bool,
) -> Atomic<'_, PropagatedInsert<M, R>> {
    let ready = encoded.and_then(|(documents, session)| {
        expect_work(M::model())?;
        let insert = PropagatedInsert::new(documents, done, in_background)?;
        Ok((insert, session))
    });
    Atomic::of_call(ready, M::model())
}

/// Whether anything follows from documents of the model, or from others in them.
pub(crate) fn inserts_propagate(model: &'static ModelMeta) -> Result<bool> {
    Ok(!model.copies()?.is_empty()
        || !model.two_way()?.is_empty()
        || !Collected::from(model)?.is_empty()
        || !Collected::held_by(model)?.is_empty())
}

/// Refuses a model with nothing to propagate.
pub(crate) fn expect_work(model: &'static ModelMeta) -> Result<()> {
    if inserts_propagate(model)? {
        return Ok(());
    }
    Err(Error::usage(
        "nothing follows from documents of this model, no `copy_of`, no `two_way` reference, no summary and no list of the newest: \
         insert without `propagate`",
    ))
}

impl<M: Document, R> PropagatedInsert<M, R> {
    pub(crate) fn new(
        documents: Encoded<M>,
        done: fn(InsertManyResult<M::Id>) -> Result<R>,
        in_background: bool,
    ) -> Result<Self> {
        let model = M::model();
        let copies = model.copies()?;
        let mut stale = Stale::of_inserts(model, &documents.documents)?;
        stale.summaries = model.summaries()?.iter().collect();
        stale.lists = model.newest_lists()?.iter().collect();
        Ok(Self {
            copies: Kept::all(copies)?,
            derived: Derived::new(model, &stale, in_background)?,
            documents,
            done,
        })
    }

    /// An insert that only checks the references of its documents.
    pub(super) fn checked(
        documents: Encoded<M>,
        done: fn(InsertManyResult<M::Id>) -> Result<R>,
    ) -> Result<Self> {
        let mut insert = Self {
            copies: Vec::new(),
            derived: Derived::new(M::model(), &Stale::default(), false)?,
            documents,
            done,
        };
        insert.derived.check_references()?;
        Ok(insert)
    }

    /// Fills what follows from others in the documents, and writes the fences, if that comes before the insert.
    pub(crate) async fn fill_all(&self, channel: &mut Channel<'_>) -> Result<Filled> {
        let mut all = Vec::new();
        let mut fences = Fences::default();
        for kept in &self.copies {
            let keys = Keys::at(&kept.reference, &self.documents.documents)?;
            if self.is_fenced(kept) {
                kept.fence(channel, &keys, &mut fences)?;
            }
            all.push(keys);
        }
        let references = &self.derived.references;
        self.derived.need_transaction(channel)?;
        let checked = references.new_keys(&[], &self.documents.documents)?;
        references.fence(channel, &checked, &mut fences)?;
        let mut looks = Looks::default();
        if channel.is_in_transaction() {
            fences.write(channel, M::model()).await?;
        } else if self.derived.reads_after() {
            let (derived, new) = (&self.derived, &self.documents.documents);
            derived.record_all(channel, new, &mut looks).await?;
        }
        let documents = self.fill(channel, all, &mut looks).await?;
        Ok(Filled {
            documents,
            fences,
            checked,
            looks,
        })
    }

    /// Writes what follows from the documents, after they are inserted.
    pub(crate) async fn follow(&self, channel: &mut Channel<'_>, filled: Filled) -> Result<()> {
        let Filled {
            fences,
            checked,
            mut looks,
            ..
        } = filled;
        if !channel.is_in_transaction() && !fences.is_empty() {
            // A propagation in a transaction, which does not see the new documents, fails by this or has committed.
            fences.write(channel, M::model()).await?;
        }
        let (derived, inserted) = (&self.derived, &self.documents.documents);
        if derived.reads_after() {
            derived.references.check(channel, &checked).await?;
            derived
                .write_back(channel, &[], inserted, &mut looks, &mut Vec::new())
                .await?;
            derived.write_new(channel, inserted, &mut looks).await?;
        }
        derived.keep(looks);
        Ok(())
    }

    /// Forgets what an attempt that was aborted had to look at again.
    pub(crate) fn forget(&self) {
        self.derived.keep(Looks::default());
    }

    /// Looks again after the insert has taken effect.
    pub(crate) async fn look_again(&self) -> Result<()> {
        let mut channel = self.documents.channel();
        let settled = self.derived.settle(&mut channel, &mut Vec::new()).await;
        settled.map_err(|error| {
            error.context(
                "the documents are inserted, and copies may be stale: `refresh_copies` writes them",
            )
        })
    }

    /// The documents with their copies.
    async fn fill(
        &self,
        channel: &mut Channel<'_>,
        keys: Vec<Keys>,
        looks: &mut Looks,
    ) -> Result<Vec<RawDocumentBuf>> {
        let mut documents = self.documents.documents.clone();
        for (kept, keys) in self.copies.iter().copied().zip(keys) {
            let facts = Facts::read(channel, kept, &keys, true).await?;
            for document in &mut documents {
                *document = facts.fill(kept, document)?;
            }
            if kept.follows() && !(channel.is_in_transaction() && self.is_fenced(kept)) {
                let mut holders = Holders::default();
                for document in &self.documents.documents {
                    holders.add(kept, document)?;
                }
                looks.held.push((kept, holders, facts));
            }
        }
        Ok(documents)
    }

    /// Whether a fence keeps these copies in step. In a transaction of the caller, all are: it can't look again.
    fn is_fenced(&self, kept: &Kept) -> bool {
        kept.follows() && (kept.is_strict() || self.derived.is_callers)
    }
}

impl<M: Document, R> ChecksReferences for PropagatedInsert<M, R> {
    fn check_references(&mut self) -> Result<()> {
        self.derived.check_references()
    }
}

impl<M: Document, R: Send> Propagates for PropagatedInsert<M, R> {}

impl<M: Document, R: Send> WriteSteps for PropagatedInsert<M, R> {
    async fn add_to(&self, channel: &mut Channel<'_>, plan: &mut Planned) -> Result<()> {
        let (model, documents) = (M::model(), &self.documents.documents);
        let command = self.documents.insert(None).command()?;
        let words = self.derived.words();
        plan.add_call(channel, model, vec![command.clone()], &words)?;
        let collection = channel.collection(model);
        let mut own = Step::writes(model, &collection, vec![command], String::new());
        own.reasons.clear();
        for kept in &self.copies {
            let names = kept.copies.fields.iter().map(|field| field.rust);
            let names: Vec<_> = names.collect();
            own.reasons.push(format!(
                "fill `{}` by `{}`",
                names.join("`, `"),
                kept.copies.by.join(".")
            ));
        }
        plan.steps.push(own);
        plan.steps
            .extend(self.derived.steps(channel, documents).await?);
        Ok(())
    }
}

impl<M: Document, R: Send> WriteSeveral for PropagatedInsert<M, R> {
    type Done = R;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.documents.channel()
    }

    fn enter(&mut self, is_callers: bool) {
        self.derived.is_callers = is_callers;
    }

    fn is_several(&self) -> bool {
        self.derived.is_several() || self.copies.iter().any(|kept| kept.is_strict())
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<R> {
        let mut filled = self.fill_all(channel).await?;
        let documents = std::mem::take(&mut filled.documents);
        let insert = self.documents.insert_these(documents, channel.session());
        let result = insert.await?;
        self.follow(channel, filled).await?;
        (self.done)(result)
    }

    async fn settle(&self, done: R) -> Result<R> {
        self.look_again().await?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.derived.after_commit(self.channel())
    }
}

impl<M: Document, R> fmt::Debug for PropagatedInsert<M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = M::model().collection;
        write!(
            f,
            "PropagatedInsert({name}, {:?})",
            self.documents.documents
        )
    }
}
