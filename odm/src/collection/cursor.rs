//! Typed cursors.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::de::DeserializeOwned;

use super::versions::ReadAs;
use crate::error::Result;
use crate::store::RawCursor;

/// The documents that a query returns, fetched a batch at a time: a
/// [`Stream`] of `Result<T>`.
///
/// A document that does not fit `T` is one `Err` ([`Error::is_decode`](crate::Error::is_decode));
/// the stream continues with the next. `'s` is the borrow of the session, if there is one.
#[must_use = "a cursor fetches nothing until it is polled"]
pub struct Cursor<'s, T> {
    raw: RawCursor<'s>,
    read_as: ReadAs,
    of: PhantomData<fn() -> T>,
}

impl<'s, T: DeserializeOwned> Cursor<'s, T> {
    pub(crate) fn new(raw: RawCursor<'s>, read_as: ReadAs) -> Self {
        Self {
            raw,
            read_as,
            of: PhantomData,
        }
    }

    /// Returns the next document, or `None` after the last.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut cursor = books.find_all().sort(|b| b.id.asc()).await?;
    /// let first = cursor.next().await.ok_or("no book")??;
    /// assert_eq!(first.title, "Emma");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Result<T>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Collects all remaining documents, or returns the first error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut cursor = books.find_all().sort(|b| b.id.asc()).await?;
    /// let first = cursor.next().await.ok_or("no book")??;
    /// let others = cursor.all().await?;
    /// assert_eq!((first.id, others.len()), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(mut self) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while let Some(next) = self.next().await {
            // Reserves room for the rest of the batch, so that a vector of large structs is not moved as it grows.
            all.reserve(1 + self.raw.left());
            all.push(next?);
        }
        Ok(all)
    }
}

impl<T: DeserializeOwned> Stream for Cursor<'_, T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let read_as = &this.read_as;
        this.raw.poll_next(cx).map(|next| {
            next.map(|raw| match raw {
                Ok(raw) => read_as.decode(raw),
                Err(error) => Err(error.with_model(read_as.name())),
            })
        })
    }
}

impl<T> fmt::Debug for Cursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor<{}>({:?})", self.read_as.name(), self.raw)
    }
}
