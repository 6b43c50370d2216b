//! The rows of a join, loaded in chunks.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use crate::collection::ReadAs;
use crate::error::Result;
use crate::exec::Channel;
use crate::model::Document;
use crate::relation::branch::Branches;
use crate::store::options::Chosen;
use crate::store::{RawCursor, Store};

/// The most rows whose relations a stream loads at once.
const CHUNK: usize = 1_000;

/// The rows of a join, one by one: a [`Stream`] of `Result<T>`.
#[must_use = "nothing is read until the stream is polled"]
pub struct Rows<'s, R> {
    loaded: std::vec::IntoIter<R>,
    next: Option<BoxFuture<'s, Result<Loaded<'s, R>>>>,
}

/// The rows of a chunk, and the future of the next one.
pub(super) struct Loaded<'s, R> {
    rows: Vec<R>,
    next: Option<BoxFuture<'s, Result<Loaded<'s, R>>>>,
}

/// A find whose rows are read in chunks.
pub(super) struct Reading<'s, M, T, J> {
    cursor: RawCursor<'s>,
    branches: J,
    read_as: ReadAs,
    store: Store,
    options: Chosen,
    of: PhantomData<fn() -> (M, T)>,
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J: Branches>
    Reading<'s, M, T, J>
{
    pub(super) fn new(
        cursor: RawCursor<'s>,
        branches: J,
        read_as: ReadAs,
        store: Store,
        options: Chosen,
    ) -> Self {
        Self {
            cursor,
            branches,
            read_as,
            store,
            options,
            of: PhantomData,
        }
    }

    /// Reads the next rows and their relations.
    pub(super) async fn chunk(mut self) -> Result<Loaded<'s, J::Row<T>>> {
        let mut chunk = Chunk::default();
        let mut is_last = true;
        while let Some(raw) = self.cursor.next().await {
            chunk.add::<M>(&self.branches, &self.read_as, raw)?;
            if chunk.documents.len() == CHUNK {
                is_last = false;
                break;
            }
        }
        let channel = Channel::new(self.store.clone(), None).with_options(self.options.clone());
        let rows = chunk.load(&self.branches, channel).await?;
        Ok(Loaded {
            rows,
            next: if is_last { None } else { Some(self.boxed()) },
        })
    }

    fn boxed(self) -> BoxFuture<'s, Result<Loaded<'s, J::Row<T>>>> {
        Box::pin(self.chunk())
    }
}

impl<'s, R> Rows<'s, R> {
    pub(super) fn new(first: impl Future<Output = Result<Loaded<'s, R>>> + Send + 's) -> Self {
        Self {
            loaded: Vec::new().into_iter(),
            next: Some(Box::pin(first)),
        }
    }

    /// Returns the next row, or `None` after the last.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let mut rows = books.find_all().join(|b| b.author).stream();
    /// let mut written_by_austen = 0;
    /// while let Some(book) = rows.next().await.transpose()? {
    ///     let author = book.author().found().ok_or("a dangling reference")?;
    ///     written_by_austen += usize::from(author.name == "Austen");
    /// }
    /// assert_eq!(written_by_austen, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Result<R>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<R>>> {
        loop {
            if let Some(row) = self.loaded.next() {
                return Poll::Ready(Some(Ok(row)));
            }
            let Some(next) = &mut self.next else {
                return Poll::Ready(None);
            };
            match std::task::ready!(next.as_mut().poll(cx)) {
                Ok(loaded) => {
                    self.loaded = loaded.rows.into_iter();
                    self.next = loaded.next;
                }
                Err(error) => {
                    self.next = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

impl<R: Unpin> Stream for Rows<'_, R> {
    type Item = Result<R>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }
}

impl<R> fmt::Debug for Rows<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("loaded", &self.loaded.len())
            .field("is_last", &self.next.is_none())
            .finish()
    }
}

/// Rows before their relations are loaded.
pub(super) struct Chunk<T, G> {
    documents: Vec<T>,
    gathered: G,
}

impl<T, G: Default> Default for Chunk<T, G> {
    fn default() -> Self {
        Self {
            documents: Vec::new(),
            gathered: G::default(),
        }
    }
}

impl<T: DeserializeOwned + Send + Sync + 'static, G> Chunk<T, G> {
    pub(super) fn add<M: Document>(
        &mut self,
        branches: &impl Branches<Gathered = G>,
        read_as: &ReadAs,
        raw: Result<&bson::RawDocument>,
    ) -> Result<()> {
        let model = M::model().name;
        let raw = raw.map_err(|error| error.with_model(model))?;
        let current = read_as.current(raw)?;
        self.documents.push(current.decode(model)?);
        let gathered = branches.gather(&mut self.gathered, &current.raw);
        gathered.map_err(|error| error.with_model(model))
    }

    pub(super) async fn load<J: Branches<Gathered = G>>(
        self,
        branches: &J,
        channel: Channel<'_>,
    ) -> Result<Vec<J::Row<T>>> {
        let rows = self.documents.len();
        let values = branches.load(self.gathered, rows, channel).await?;
        let rows = self.documents.into_iter().zip(values);
        Ok(rows
            .map(|(document, values)| J::row(document, values))
            .collect())
    }
}
