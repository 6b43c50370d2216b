//! `bulk_write`: writes of any kind, grouped into few commands.

mod group;
mod statements;
mod write;

use std::fmt;
use std::marker::PhantomData;

pub(crate) use self::statements::{Matching, Run, Statements};
pub use self::write::{Write, Writes};
use super::Collection;
use super::call::Call;
use super::options::{action, options};
use super::template::Template;
use crate::error::{BulkWriteResult, Error, Result};
use crate::exec::Channel;
use crate::model::{Document, Writable};
use crate::plan::{Plan, Step};
use crate::store::{Operation, Session};

/// Sends many writes: [`Collection::bulk_write`].
#[must_use = "nothing is written until it is awaited"]
pub struct BulkWrite<'s, M: Document> {
    call: Call<'s>,
    writes: Vec<write::Prepared>,
    /// The refusal of a write that has not said what becomes of other documents.
    unsaid: Option<Error>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Sends writes of any kind, grouped into as few commands as their order allows:
    /// `|w| [w.insert_one(&book), w.update_one(|b| …, |b| …).upsert(true), w.delete_one(|b| …)]`.
    ///
    /// Ordered (the default), the writes run one after the other and stop at the first failure.
    /// Unordered, all writes are attempted, inserts first. If some fail, the error lists them
    /// ([`Error::write_errors`]) and counts the successful ones ([`Error::partial_result`]).
    ///
    /// Additions to lists with a declared maximum carry the conditions of
    /// [`update_one`](Collection::update_one), but the result only counts the matched documents: it can't say which
    /// writes found a full list. An upsert that finds one fails with a duplicate key.
    ///
    /// The driver retries inserts after a broken connection, but not updates and deletes, because
    /// their commands contain several statements.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books
    ///     .bulk_write(|w| [w.delete_one(|b| b.id.eq(1)), w.update_all(|b| b.year.inc(1))])
    ///     .await?;
    /// assert_eq!((result.deleted, result.modified), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn bulk_write<'s, I: IntoIterator<Item = Write<M>>>(
        &self,
        writes: impl FnOnce(Writes<M>) -> I,
    ) -> BulkWrite<'s, M>
    where
        M: Writable,
    {
        let mut call = self.call(Operation::Updates {
            statements: Vec::new(),
        });
        let mut unsaid = None;
        let prepared = writes(Writes::new())
            .into_iter()
            .enumerate()
            .map(|(index, write)| {
                let in_write = |error: Error| {
                    let error = error.with_model(M::model().name);
                    error.context(format!("write {index}"))
                };
                write.check_trees(&call).map_err(in_write)?;
                if unsaid.is_none() {
                    unsaid = write.check_words().map_err(in_write).err();
                }
                write.prepare(index).map_err(in_write)
            })
            .collect();
        let writes = call.keep(prepared);
        BulkWrite {
            call,
            writes,
            unsaid,
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> BulkWrite<'s, M> {
    options!(session comment ordered bypass_document_validation let_vars write_concern);

    /// Returns the command documents without sending them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = books.bulk_write(|w| [1, 2].map(|id| w.delete_one(|b| b.id.eq(id))));
    /// let commands = both.commands()?;
    /// assert_eq!(commands.len(), 1);
    /// assert_eq!(commands[0].get_array("deletes")?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn commands(self) -> Result<Vec<bson::Document>> {
        let (_, request, _) = self.call.prepare()?;
        if let Some(error) = self.unsaid {
            return Err(error);
        }
        let to = (&request.collection, &request.options);
        statements::commands(to, self.writes)
    }

    /// Returns the writes as a plan, which can be printed before it is applied, and which reports its progress.
    /// Nothing is sent yet.
    ///
    /// Applying it sends at most 1,000 writes at a time. Name in each filter the values that the write replaces:
    /// then a document that somebody else has changed stays as it is
    /// ([`Applied::unmatched`](crate::plan::Applied::unmatched)), and a plan that was interrupted can be applied
    /// again.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "books")]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let db = Db::memory();
    /// let books = db.collection::<Book>();
    /// books.insert_one(&Book { id: 1, title: " Ulysses".to_owned() }).await?;
    ///
    /// let untidy = books.find(|b| b.title.regex("^ ")).all().await?;
    /// let plan = books
    ///     .bulk_write(|w| {
    ///         untidy.iter().map(move |book| {
    ///             let title = book.title.trim_start().to_owned();
    ///             w.update_one(|b| b.id.eq(book.id) & b.title.eq(&book.title), |b| b.title.set(title))
    ///         })
    ///     })
    ///     .plan("titles begin with a space")?;
    /// println!("{plan}");
    /// let applied = plan
    ///     .apply(Allow::WRITE)
    ///     .on_progress(|progress| println!("{} written", progress.written))
    ///     .await?;
    /// assert!(applied.is_complete());
    /// # assert_eq!(applied.written(), 1);
    /// # assert_eq!(books.find_one(|b| b.title.eq("Ulysses")).await?.map(|b| b.id), Some(1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A write that can't be encoded; or a session, which a plan does not keep.
    pub fn plan(self, reason: impl Into<String>) -> Result<Plan> {
        let model = self.call.model;
        if self.call.session.is_some() {
            let message = "a plan runs outside of sessions: leave `session` out";
            return Err(Error::usage(message).with_model(model.name));
        }
        let store = self.call.store.clone();
        let collection = self.call.request.collection.clone();
        let commands = self.commands()?;
        Ok(Plan::new(
            store,
            vec![Step::writes(model, &collection, commands, reason.into())],
        ))
    }

    /// The writes, to be sent as part of several writes that say what becomes of other documents, and the session.
    pub(crate) fn statements(self) -> Result<(Statements, Option<&'s mut Session>)> {
        let template = Template::of(&self.call)?;
        let (_, _, session) = self.call.prepare()?;
        Ok((Statements::new(template, self.writes), session))
    }

    /// Refuses writes that have to say what becomes of other documents, and do not.
    pub(crate) fn check_words(&mut self) -> Result<()> {
        self.unsaid.take().map_or(Ok(()), Err)
    }

    async fn run(self) -> Result<BulkWriteResult> {
        let model = self.call.model;
        let (store, request, session) = self.call.prepare()?;
        if let Some(error) = self.unsaid {
            return Err(error);
        }
        let mut channel = Channel::new(store, session);
        let to = (&request.collection, &request.options);
        statements::send(&mut channel, model, to, self.writes).await
    }
}

action!(BulkWrite => BulkWriteResult);

impl<M: Document> fmt::Debug for BulkWrite<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BulkWrite({} writes)", self.writes.len())
    }
}
