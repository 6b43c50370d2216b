//! `find` and `find_all`.

use std::fmt;
use std::marker::PhantomData;

use bson::{Document as BsonDocument, doc};
use serde::de::DeserializeOwned;

use super::call::{Call, filter};
use super::options::options;
use super::{Collection, Cursor};
use crate::error::Result;
use crate::model::{Document, Projection};
use crate::query::FilterFn;
use crate::store::Operation;

/// Reads documents: [`Collection::find`], [`Collection::find_all`].
#[must_use = "nothing is read until it is awaited"]
pub struct Find<'s, M: Document, T = M> {
    pub(crate) call: Call<'s>,
    of: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Collection<M> {
    /// Finds the documents that match. `.await` returns a [`Cursor`], [`.all()`](Find::all) a `Vec`.
    pub fn find<'s>(&self, condition: impl FilterFn<M>) -> Find<'s, M> {
        let filter = filter::<M>(condition);
        let operation = filter.map(|filter| Operation::Find { filter, one: false });
        Find::new(self.try_call(operation))
    }

    /// Finds every document of the collection.
    pub fn find_all<'s>(&self) -> Find<'s, M> {
        Find::new(self.call(Operation::Find {
            filter: BsonDocument::new().into(),
            one: false,
        }))
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> Find<'s, M, T> {
    pub(crate) fn new(call: Call<'s>) -> Self {
        Self {
            call,
            of: PhantomData,
        }
    }

    options!(
        session command explain sort skip limit batch_size hint comment collation let_vars max_time
        allow_disk_use read_concern read_preference min max allow_partial_results no_cursor_timeout
        show_record_id return_key
    );

    /// Reads documents as `P`; the server sends only its fields.
    pub fn select<P: Projection<Of = M> + 'static>(mut self) -> Find<'s, M, P> {
        self.call.options().projection = Some(projection::<P>());
        Find::new(self.call)
    }

    /// Sets a raw projection. Choose the type of its results with [`with_type`](Self::with_type).
    pub fn projection(mut self, projection: BsonDocument) -> Self {
        self.call.options().projection = Some(projection);
        self
    }

    /// Reads documents as `U`, which is not checked against the model.
    pub fn with_type<U: DeserializeOwned + 'static>(self) -> Find<'s, M, U> {
        Find::new(self.call)
    }

    /// Collects all documents, or returns the first error.
    pub async fn all(self) -> Result<Vec<T>> {
        self.run().await?.all().await
    }

    /// Returns the first document, if one matches.
    pub async fn first(mut self) -> Result<Option<T>> {
        self.call.request.operation.only_first();
        let mut cursor = self.run().await?;
        cursor.next().await.transpose()
    }

    fn run(self) -> impl Future<Output = Result<Cursor<'s, T>>> + Send + use<'s, M, T> {
        let model = self.call.model.name;
        let answer = self.call.send();
        async move { Ok(Cursor::new(answer.await?.cursor()?, model)) }
    }
}

/// The projection document of a derived struct.
pub(crate) fn projection<P: Projection>() -> BsonDocument {
    let mut projection = doc! {};
    if !P::FIELDS.contains(&"_id") {
        projection.insert("_id", 0);
    }
    for field in P::FIELDS {
        projection.insert(*field, 1);
    }
    projection
}

impl<'s, M: Document, T: DeserializeOwned + 'static> IntoFuture for Find<'s, M, T> {
    type Output = Result<Cursor<'s, T>>;
    type IntoFuture = futures_core::future::BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T> fmt::Debug for Find<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
