//! `bulk_write`: writes of any kind, grouped into few commands.

mod group;
mod write;

use std::fmt;
use std::marker::PhantomData;

use self::group::Group;
pub use self::write::{Write, Writes};
use super::Collection;
use super::call::Call;
use super::options::{action, options};
use crate::error::{BulkError, BulkWriteResult, Error, Kind, Result};
use crate::exec::{Channel, refused};
use crate::model::Document;
use crate::plan::{Plan, Step};
use crate::store::{Operation, Request};

/// Sends many writes: [`Collection::bulk_write`].
#[must_use = "nothing is written until it is awaited"]
pub struct BulkWrite<'s, M: Document> {
    call: Call<'s>,
    writes: Vec<write::Prepared>,
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
    ) -> BulkWrite<'s, M> {
        let mut call = self.call(Operation::Updates {
            statements: Vec::new(),
        });
        let prepared = writes(Writes::new())
            .into_iter()
            .enumerate()
            .map(|(index, write)| {
                let prepared = write.checked(&call).and_then(Write::prepare);
                prepared.map_err(|error| error.context(format!("write {index}")))
            })
            .collect();
        let writes = call.keep(prepared);
        BulkWrite {
            call,
            writes,
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
        let ordered = request.options.ordered != Some(false);
        group::groups(self.writes, ordered)
            .into_iter()
            .map(|group| {
                let command = Request {
                    collection: request.collection.clone(),
                    operation: group.operation,
                    options: request.options.clone(),
                };
                command.command()
            })
            .collect()
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

    async fn run(self) -> Result<BulkWriteResult> {
        let model = self.call.model;
        let (store, request, session) = self.call.prepare()?;
        let mut channel = Channel::new(store, session);
        let ordered = request.options.ordered != Some(false);
        let mut done = BulkWriteResult::default();
        let mut failure: Option<BulkError> = None;
        for group in group::groups(self.writes, ordered) {
            let Group {
                operation,
                kind,
                indexes,
            } = group;
            let position = |index: usize| indexes.get(index).copied().unwrap_or(index);
            let mut options = request.options.clone();
            if kind == crate::store::WriteKind::Insert {
                // Only updates and deletes have variables.
                options.let_vars = None;
            } else if kind == crate::store::WriteKind::Delete {
                options.bypass_document_validation = None;
            }
            let documents = channel.named(request.collection.clone(), model);
            let written = match documents.send(operation, options).await {
                Ok(response) => response.written(),
                Err(error) => Err(error),
            };
            match written {
                Ok(written) => done.add(written.into_result(kind), position),
                Err(error) => {
                    let bulk = match error.kind() {
                        Kind::Bulk(bulk) => bulk.clone(),
                        _ => return Err(refused(unfinished(error, done, failure), model)),
                    };
                    let stop = ordered && !bulk.errors.is_empty();
                    failure
                        .get_or_insert_with(BulkError::default)
                        .add(bulk, position);
                    if stop {
                        break;
                    }
                }
            }
        }
        match failure {
            None => Ok(done),
            Some(mut failure) => {
                failure.result.add(done, |index| index);
                failure.errors.sort_by_key(crate::error::WriteError::index);
                Err(refused(Error::new(failure), model))
            }
        }
    }
}

/// The failure of a whole command (a broken connection), with the results of the commands before it.
fn unfinished(error: Error, mut done: BulkWriteResult, failure: Option<BulkError>) -> Error {
    if let Some(failure) = failure {
        done.add(failure.result, |index| index);
    }
    if done == BulkWriteResult::default() {
        return error;
    }
    error.context(format!(
        "after {} inserted, {} matched, {} modified, {} deleted, {} upserted",
        done.inserted,
        done.matched,
        done.modified,
        done.deleted,
        done.upserted_ids.len()
    ))
}

action!(BulkWrite => BulkWriteResult);

impl<M: Document> fmt::Debug for BulkWrite<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BulkWrite({} writes)", self.writes.len())
    }
}
