//! `watch`: change streams.

mod change;
mod fields;
mod read;
mod stream;
#[cfg(test)]
mod tests;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use bson::{Document as BsonDocument, Timestamp, doc};
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

pub use self::change::{
    Change, Namespace, Operation, OperationType, ResumeToken, TruncatedArray, UpdateDescription,
};
pub use self::fields::ChangeFields;
pub use self::read::Watched;
pub use self::stream::ChangeStream;
use super::call::Defaults;
use super::decode::decode;
use super::options::options;
use super::{Collection, Db};
use crate::error::{Error, Result};
use crate::model::{Document, Writable};
use crate::query::Filter;
use crate::store::options::Options;
pub use crate::store::options::{FullDocument, FullDocumentBeforeChange};
use crate::store::{Scope, Session, Store, Watch as Watching};

/// Opens a change stream: [`Collection::watch`], [`Db::watch`], [`Db::watch_cluster`].
///
/// Events are read as `E`: a [`Change`], unless [`with_type`](Self::with_type) chooses another type.
#[must_use = "nothing is watched until it is awaited"]
pub struct Watch<'s, T: Watched, E = Change<T>> {
    call: Call<'s>,
    read: stream::Read<E>,
    of: PhantomData<fn() -> T>,
}

/// The request under construction, with its store and session.
#[derive(Debug)]
struct Call<'s> {
    store: Store,
    model: &'static str,
    watch: Watching,
    session: Option<&'s mut Session>,
    defaults: Option<Arc<Defaults>>,
    error: Option<Error>,
}

impl<M: Document> Collection<M> {
    /// Watches the collection: returns each insert, update, replacement and delete of a document, and drops and renames
    /// of the collection, in order and as they happen. `.await` returns a [`ChangeStream`], which starts with the next
    /// write.
    ///
    /// MongoDB supports change streams in replica sets and sharded clusters only. The in-memory engine always does.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::collection::Operation;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "orders")]
    /// struct Order {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     status: String,
    ///     total: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let orders = db.collection::<Order>();
    /// let mut changes = orders.watch().await?;
    ///
    /// orders.insert_one(&Order { id: 7, status: "new".into(), total: 40 }).await?;
    /// orders.update_one(|o| o.id.eq(7), |o| o.status.set("paid")).await?;
    ///
    /// let change = changes.next().await.expect("the collection is there")?;
    /// let Operation::Insert { id, full_document } = change.operation else { panic!("{change:?}") };
    /// assert_eq!((id, full_document.total), (7, 40));
    ///
    /// let change = changes.next().await.expect("the collection is there")?;
    /// let Operation::Update { id, update_description, .. } = change.operation else { panic!() };
    /// assert_eq!((id, update_description.updated_fields), (7, doc! { "status": "paid" }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch<'s>(&self) -> Watch<'s, M>
    where
        M: Writable,
    {
        let model = M::model();
        let scope = Scope::Collection(self.name.clone());
        Watch::new(&self.store, self.defaults.clone(), model.name, scope)
    }
}

impl Db {
    /// Watches every collection of the database. Its events hold documents of any model;
    /// [`Change::of`] reads those of one.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32, total: i64 }
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "customers")]
    /// # struct Customer { #[serde(rename = "_id")] id: String }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let mut changes = db.watch().await?;
    /// db.collection::<Customer>().insert_one(&Customer { id: "ada".into() }).await?;
    /// db.collection::<Order>().insert_one(&Order { id: 1, total: 40 }).await?;
    ///
    /// let mut seen = Vec::new();
    /// while seen.len() < 2 {
    ///     let Some(change) = changes.next().await.transpose()? else { break };
    ///     if let Some(order) = change.of::<Order>()? {
    ///         seen.push(format!("order {:?}", order.id()));
    ///     } else if let Some(customer) = change.of::<Customer>()? {
    ///         seen.push(format!("customer {:?}", customer.id()));
    ///     }
    /// }
    /// assert_eq!(seen, [r#"customer Some("ada")"#, "order Some(1)"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch<'s>(&self) -> Watch<'s, BsonDocument> {
        Watch::new(&self.store, None, ANY, Scope::Database)
    }

    /// Watches every collection of every database except `admin`, `config` and `local`.
    /// [`Change::namespace`] names the collection of each event.
    pub fn watch_cluster<'s>(&self) -> Watch<'s, BsonDocument> {
        Watch::new(&self.store, None, ANY, Scope::Cluster)
    }
}

/// The name that errors use when the stream has no model.
const ANY: &str = "Change";

impl<T: Watched> Watch<'_, T> {
    fn new(
        store: &Store,
        defaults: Option<Arc<Defaults>>,
        model: &'static str,
        scope: Scope,
    ) -> Self {
        Self {
            call: Call {
                store: store.clone(),
                model,
                watch: Watching::new(scope),
                session: None,
                defaults,
                error: None,
            },
            read: |event, _| read::change(event),
            of: PhantomData,
        }
    }
}

impl<M: Document> Watch<'_, M> {
    /// Returns only events that match a condition: on the `operation_type`, the document's `id`, fields of the
    /// `full_document`, fields of the document before the change, or the `updated_fields`.
    ///
    /// Update events contain the full document only if [`full_document`](Self::full_document) requests it. Delete
    /// events never do, so a comparison with one of its fields does not match them.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::collection::FullDocument;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32, status: String, total: i64 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let orders = db.collection::<Order>();
    /// let mut large_and_paid = orders
    ///     .watch()
    ///     .full_document(FullDocument::UpdateLookup)
    ///     .filter(|change| {
    ///         change.updated_fields.status.eq("paid") & change.full_document.total.gte(100)
    ///     })
    ///     .await?;
    ///
    /// for (id, total) in [(1, 40), (2, 250)] {
    ///     orders.insert_one(&Order { id, status: "new".into(), total }).await?;
    ///     orders.update_one(|o| o.id.eq(id), |o| o.status.set("paid")).await?;
    /// }
    /// let change = large_and_paid.next().await.expect("the collection is there")?;
    /// assert_eq!(change.id(), Some(&2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The document is a part of the event, so its fields must be named through `full_document`:
    ///
    /// ```compile_fail,E0609
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32, total: i64 }
    /// # let orders = Db::memory().collection::<Order>();
    /// let large = orders.watch().filter(|change| change.total.gte(100)); // change.full_document.total
    /// ```
    pub fn filter(mut self, condition: impl FnOnce(ChangeFields<M>) -> Filter<Change<M>>) -> Self {
        match condition(ChangeFields::new()).into_document() {
            Ok(filter) => self.call.watch.pipeline.push(doc! { "$match": filter }),
            Err(error) => {
                self.call.error.get_or_insert(error);
            }
        }
        self
    }
}

impl<'s, T: Watched, E> Watch<'s, T, E> {
    options!(session command batch_size comment collation read_concern read_preference);

    /// Passes events through these raw stages: `$match`, `$project`, `$set` and the like. The stages must keep an
    /// event's `_id`, which is the resume token. If they change the event's shape, choose a type to read with
    /// [`with_type`](Self::with_type).
    pub fn pipeline(mut self, stages: impl IntoIterator<Item = BsonDocument>) -> Self {
        self.call.watch.pipeline.extend(stages);
        self
    }

    /// Adds the full document to update events. Insert and replace events always contain it.
    pub fn full_document(mut self, full_document: FullDocument) -> Self {
        self.call.watch.full_document = Some(full_document);
        self
    }

    /// Adds the document as it was before the change to update, replace and delete events. The collection must store
    /// pre-images: declare `#[odm(change_stream_images)]` on the model, and [`Db::sync`] turns them on. Without
    /// pre-images every event has `None`, and [`Required`](FullDocumentBeforeChange::Required) ends the stream with an
    /// error.
    pub fn full_document_before_change(mut self, before: FullDocumentBeforeChange) -> Self {
        self.call.watch.full_document_before_change = Some(before);
        self
    }

    /// Also returns events about definitions: collections and views that are created or modified, and indexes that are
    /// created or dropped ([`Operation::Create`] and the like). Every event then contains the UUID of its collection.
    /// Requires MongoDB 6.0.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::collection::Operation;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "orders", index(total))]
    /// # struct Order { #[serde(rename = "_id")] id: i32, total: i64 }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let mut changes = db.watch().show_expanded_events(true).await?;
    /// db.sync(models![Order]).plan().await?.apply(Allow::CREATE).await?;
    ///
    /// let change = changes.next().await.expect("the database is there")?;
    /// let Operation::Create { description } = change.operation else { panic!() };
    /// assert_eq!(description.get_str("validationLevel").unwrap(), "strict");
    ///
    /// let change = changes.next().await.expect("the database is there")?;
    /// let Operation::CreateIndexes { indexes } = change.operation else { panic!() };
    /// assert_eq!(indexes[0].get_str("name").unwrap(), "total_1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn show_expanded_events(mut self, expanded: bool) -> Self {
        self.call.watch.show_expanded_events = expanded;
        self
    }

    /// Resumes after the event with this token, if the store still has the writes since then. Use the same filter and
    /// stages as the stream that returned the token: if they drop the token's event, the stream fails with
    /// [`CHANGE_STREAM_FATAL_ERROR`](crate::Code::CHANGE_STREAM_FATAL_ERROR).
    pub fn resume_after(mut self, token: impl Into<Option<ResumeToken>>) -> Self {
        self.call.watch.resume_after = token.into().map(ResumeToken::into_document);
        self
    }

    /// Like [`resume_after`](Self::resume_after), but also accepts the token of an [`Operation::Invalidate`] event.
    pub fn start_after(mut self, token: impl Into<Option<ResumeToken>>) -> Self {
        self.call.watch.start_after = token.into().map(ResumeToken::into_document);
        self
    }

    /// Starts with the writes at or after this time: a [`Change::cluster_time`], or the `operationTime` of a command's
    /// reply.
    pub fn start_at_operation_time(mut self, time: impl Into<Option<Timestamp>>) -> Self {
        self.call.watch.start_at_operation_time = time.into();
        self
    }

    /// How long MongoDB waits for events before it replies with an empty batch and the driver sends the next `getMore`.
    /// The in-memory engine ignores this: a write wakes the stream.
    pub fn max_await_time(mut self, time: Duration) -> Self {
        self.call.watch.max_await_time = Some(time);
        self
    }

    /// Reads events as `U` with serde, instead of as a [`Change`].
    pub fn with_type<U: DeserializeOwned>(self) -> Watch<'s, T, U> {
        Watch {
            call: self.call,
            read: decode::<U>,
            of: PhantomData,
        }
    }
}

impl<'s> Call<'s> {
    fn options(&mut self) -> &mut Options {
        &mut self.watch.options
    }

    /// Fills in the collection's defaults, or returns the builder's error.
    fn complete(&mut self) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error.with_model(self.model));
        }
        if let Some(defaults) = &self.defaults {
            let options = &mut self.watch.options;
            if options.read_concern.is_none() && defaults.read_concern.is_some() {
                options.read_concern = defaults.read_concern;
            }
            if options.read_preference.is_none() && defaults.read_preference.is_some() {
                options
                    .read_preference
                    .clone_from(&defaults.read_preference);
            }
        }
        Ok(())
    }

    fn command(mut self) -> Result<BsonDocument> {
        self.complete()?;
        let model = self.model;
        self.watch
            .command()
            .map_err(|error| error.with_model(model))
    }

    async fn open<E>(mut self, read: stream::Read<E>) -> Result<ChangeStream<'s, E>> {
        self.complete()?;
        let model = self.model;
        let opened = self.store.watch(self.watch, self.session).await;
        let opened = opened.map_err(|error| error.with_model(model))?;
        Ok(ChangeStream::new(opened, read, model))
    }
}

impl<'s, T: Watched, E: 'static> IntoFuture for Watch<'s, T, E> {
    type Output = Result<ChangeStream<'s, E>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.call.open(self.read))
    }
}

impl<T: Watched, E> fmt::Debug for Watch<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
