//! Find-and-modify that writes what follows from the change.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document as BsonDocument, RawDocumentBuf};
use serde::de::DeserializeOwned;

use super::super::Atomic;
use super::super::reference_place::read_by_id;
use super::modify::{Modified, Modify, PropagatedWrite, Ready, checked, propagated};
use super::update::matching;
use crate::collection::versions::projected;
use crate::collection::{FindOneAndReplace, FindOneAndUpdate, ReadAs, Repeated};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::Document;
use crate::store::Session;

/// A find-and-modify and what follows from it, about to be sent: [`FindOneAndUpdate::propagate`],
/// [`FindOneAndReplace::propagate`].
///
/// The result is the document, as from the call without `propagate`.
pub type FindAndModifyPropagated<'s, M, T> = Atomic<'s, PropagatedWrite<FindAndModify<M, T>>>;

/// The change of a [`FindAndModifyPropagated`].
pub struct FindAndModify<M: Document, T> {
    change: Repeated<M>,
    of: PhantomData<fn() -> T>,
}

impl<'s, M: Document, T: DeserializeOwned + Send + 'static> FindOneAndUpdate<'s, M, T> {
    /// Also writes what follows from the update, as [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate)
    /// does. With `ReturnDocument::After`, the document has its own copies and summaries as they are then.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// use odm::collection::ReturnDocument;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// let moved = messages
    ///     .find_one_and_update(|m| m.id.eq(1), |m| m.host.set(Ref::from(2)))
    ///     .return_document(ReturnDocument::After)
    ///     .propagate()
    ///     .await?;
    /// assert_eq!(moved.ok_or("no message")?.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate), and those of
    /// [`find_one_and_update`](crate::Collection::find_one_and_update).
    pub fn propagate(self) -> FindAndModifyPropagated<'s, M, T> {
        propagated(ready(self.repeated()), false)
    }

    /// Like [`propagate`](Self::propagate), and leaves copies and summaries in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation); see
    /// [`UpdateDocuments::in_background`](crate::collection::UpdateDocuments::in_background).
    pub fn in_background(self) -> FindAndModifyPropagated<'s, M, T> {
        propagated(ready(self.repeated()), true)
    }

    /// Also checks that each reference that is new in the updated document leads to a document; see
    /// [`Atomic::check_references`].
    ///
    /// A write from which other data follows takes `propagate` first: `.propagate().check_references()`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// let moved = books.find_one_and_update(|b| b.id.eq(1), |b| b.author.set(Ref::from(2)));
    /// assert!(moved.check_references().await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(self) -> FindAndModifyPropagated<'s, M, T> {
        checked(ready(self.repeated()))
    }
}

impl<'s, M: Document, T: DeserializeOwned + Send + 'static> FindOneAndReplace<'s, M, T> {
    /// Also writes what follows from the replacement, as
    /// [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate) does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// let host = Host { id: 1, name: "mickey".into(), ipaddr: "127.0.0.9".into() };
    /// let before = hosts.find_one_and_replace(|h| h.id.eq(1), &host).propagate().await?;
    /// assert_eq!(before.ok_or("no host")?.ipaddr, "127.0.0.1");
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.9");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate).
    pub fn propagate(self) -> FindAndModifyPropagated<'s, M, T> {
        propagated(ready(self.repeated()), false)
    }

    /// Like [`propagate`](Self::propagate), and leaves copies and summaries in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation); see
    /// [`UpdateDocuments::in_background`](crate::collection::UpdateDocuments::in_background).
    pub fn in_background(self) -> FindAndModifyPropagated<'s, M, T> {
        propagated(ready(self.repeated()), true)
    }

    /// Also checks that each reference that is new in the replacement leads to a document; see
    /// [`Atomic::check_references`].
    ///
    /// A write from which other data follows takes `propagate` first: `.propagate().check_references()`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// let book = Book { id: 1, author: Ref::from(2) };
    /// assert!(books.find_one_and_replace(|b| b.id.eq(1), &book).check_references().await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(self) -> FindAndModifyPropagated<'s, M, T> {
        checked(ready(self.repeated()))
    }
}

type Call<'s, M> = Result<(Repeated<M>, Option<&'s mut Session>)>;

fn ready<M: Document, T>(call: Call<'_, M>) -> Result<Ready<'_, FindAndModify<M, T>>> {
    let (mut change, session) = call?;
    Ok(Ready {
        stale: std::mem::take(&mut change.stale),
        is_upsert: change.is_upsert(),
        leaves_stale: change.leaves_stale,
        change: FindAndModify {
            change,
            of: PhantomData,
        },
        session,
    })
}

impl<M: Document, T: DeserializeOwned + Send> Modify for FindAndModify<M, T> {
    type Model = M;
    type Done = Option<T>;

    fn channel(&self) -> Channel<'static> {
        self.change.channel()
    }

    async fn matching(
        &self,
        channel: &mut Channel<'_>,
        projection: BsonDocument,
    ) -> Result<Vec<RawDocumentBuf>> {
        matching(&self.change, channel, projection).await
    }

    async fn modify(
        &self,
        channel: &mut Channel<'_>,
        matched: &[RawDocumentBuf],
    ) -> Result<Modified<Option<T>>> {
        if matched.is_empty() && self.change.is_upsert() {
            let inserted = self.change.find_and_insert(channel.session()).await?;
            let id = inserted
                .as_ref()
                .and_then(|it| it.get("_id").ok().flatten());
            let id = id.ok_or_else(|| Error::malformed_reply("the inserted document"))?;
            let inserted = Bson::try_from(id).map_err(Error::encode)?;
            return Ok(Modified {
                done: None,
                inserted: vec![inserted],
                operators: None,
            });
        }
        let ids = Keys::at(&StoredPath::at("_id"), matched)?;
        let ids = ids.into_values();
        let done = self.change.find_and_modify(channel.session(), ids);
        let done = done.await?;
        // It has changed the document that it returns.
        let operators = match &done {
            Some(_) => self.change.operators()?,
            None => None,
        };
        Ok(Modified {
            done,
            inserted: Vec::new(),
            operators,
        })
    }

    async fn read_again(
        &self,
        channel: &mut Channel<'_>,
        done: Option<T>,
        ids: &[Bson],
    ) -> Result<Option<T>> {
        let model = M::model();
        if !self.change.returns_after() || ids.is_empty() {
            return Ok(done);
        }
        let projection = self.change.projection();
        let read_as = ReadAs::of_model(model, projection.as_ref());
        let projection = projection.map(|it| projected(model, it));
        match read_by_id(channel, model, ids, projection).await? {
            Some(found) => read_as.decode(&found).map(Some),
            None => Ok(done),
        }
    }

    fn commands(&self) -> Result<Vec<BsonDocument>> {
        Ok(vec![self.change.command()?])
    }
}

impl<M: Document, T> fmt::Debug for FindAndModify<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FindAndModify({})", M::model().collection)
    }
}
