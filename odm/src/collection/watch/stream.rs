//! Open change streams with typed events.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bson::raw::RawDocument;
use futures_core::Stream;

use super::change::ResumeToken;
use crate::error::Result;
use crate::store::RawChanges;

/// Decodes an event; the second argument is the model's name, for error messages.
pub(super) type Read<E> = fn(&RawDocument, &'static str) -> Result<E>;

/// An open change stream: a [`Stream`] of `Result<E>`, where `E` is a [`Change`](super::Change) unless
/// [`with_type`](super::Watch::with_type) chose another type.
///
/// The stream waits for new events: writes to the in-memory engine wake it, and the driver fetches events from MongoDB.
/// When the connection breaks, the driver resumes the stream where it was. The stream ends after an
/// [`Operation::Invalidate`](super::Operation::Invalidate) or an unrecoverable error. An event that does not fit the
/// model is one `Err` ([`Error::is_decode`](crate::Error::is_decode)), after which the stream continues.
///
/// [`next`](Self::next) is cancel safe: a `select!` or a timeout that drops it loses no event. Dropping the stream
/// frees the store's resources. `'s` is the borrow of the session, if there is one.
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
#[must_use = "a stream reads nothing until it is polled"]
pub struct ChangeStream<'s, E> {
    raw: RawChanges<'s>,
    read: Read<E>,
    model: &'static str,
}

impl<'s, E> ChangeStream<'s, E> {
    pub(super) fn new(raw: RawChanges<'s>, read: Read<E>, model: &'static str) -> Self {
        Self { raw, read, model }
    }

    /// Waits for the next event; returns `None` once the stream has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Operation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut changes = books.watch().await?;
    /// books.drop().await?;
    /// let mut seen = Vec::new();
    /// while let Some(change) = changes.next().await {
    ///     seen.push(change?.operation);
    /// }
    /// assert_eq!(seen, [Operation::Drop, Operation::Invalidate]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Result<E>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The token for [`resume_after`](super::Watch::resume_after). A new stream continues after the last event that
    /// this stream returned, or after later events that it skipped. An event that failed to decode counts as returned.
    ///
    /// `None` is possible only before the first event of a stream opened with
    /// [`start_at_operation_time`](super::Watch::start_at_operation_time).
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
