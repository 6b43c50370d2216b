//! Open change streams, typed.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bson::raw::RawDocument;
use futures::Stream;

use super::change::ResumeToken;
use crate::error::Result;
use crate::store::RawChanges;

/// How an event is read; the model's name is for messages.
pub(super) type Read<E> = fn(&RawDocument, &'static str) -> Result<E>;

/// What is written, as it is written: a [`Stream`] of `Result<E>`, where `E` is a [`Change`](super::Change) unless
/// another type was asked for.
///
/// It waits for what comes: in the process a write wakes it, from a server it is fetched. What breaks on the way to a
/// server it survives: the driver opens it again where it was. It ends behind an
/// [`Operation::Invalidate`](super::Operation::Invalidate), and behind an error that it can't recover from. An event
/// that does not fit the model is one `Err` ([`Error::is_decode`](crate::Error::is_decode)), behind which the stream
/// goes on.
///
/// [`next`](Self::next) may be given up at any time, in a `select!` or under a timeout, and nothing is lost. Dropping
/// the stream frees what the store keeps for it. `'s` is the borrow of the session, if there is one.
///
/// ```
/// # use odm::prelude::*;
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "orders")]
/// # struct Order { #[serde(rename = "_id")] id: i32 }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// let orders = db.collection::<Order>();
/// let mut changes = orders.watch().await?;
/// let shop = orders.clone();
/// tokio::spawn(async move { shop.insert_one(&Order { id: 1 }).await });
/// // Nothing is there yet: this waits for the other task.
/// let change = changes.next().await.expect("the collection is there")?;
/// assert_eq!(change.id(), Some(&1));
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream tells nothing until it is polled"]
pub struct ChangeStream<'s, E> {
    raw: RawChanges<'s>,
    read: Read<E>,
    model: &'static str,
}

impl<'s, E> ChangeStream<'s, E> {
    pub(super) fn new(raw: RawChanges<'s>, read: Read<E>, model: &'static str) -> Self {
        Self { raw, read, model }
    }

    /// The next event, when it is there; `None` where the stream is over.
    pub async fn next(&mut self) -> Option<Result<E>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Where a new stream goes on by [`resume_after`](super::Watch::resume_after): behind the last event that this one
    /// gave, or behind later ones that did not concern it. An event that could not be read counts as given.
    ///
    /// `None` is possible only at the start of a stream that began at a time.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let orders = db.collection::<Order>();
    /// let changes = orders.watch().await?;
    /// let token = changes.resume_token();
    /// drop(changes);
    ///
    /// orders.insert_one(&Order { id: 1 }).await?; // nobody looks
    ///
    /// let mut changes = orders.watch().resume_after(token).await?;
    /// let change = changes.next().await.expect("the collection is there")?;
    /// assert_eq!(change.id(), Some(&1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume_token(&self) -> Option<ResumeToken> {
        self.raw.token().cloned().map(ResumeToken::new)
    }
}

impl<E> Stream for ChangeStream<'_, E> {
    type Item = Result<E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let (read, model) = (this.read, this.model);
        this.raw.poll_next(cx).map(|next| {
            next.map(|event| match event {
                Ok(event) => read(&event, model),
                Err(error) => Err(error.with_model(model)),
            })
        })
    }
}

impl<E> fmt::Debug for ChangeStream<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangeStream<{}>({:?})", self.model, self.raw)
    }
}
