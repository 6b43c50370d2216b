//! `count_documents` and `estimated_document_count`.

use std::fmt;
use std::marker::PhantomData;

use super::call::{Call, filter};
use super::options::{action, options};
use super::{ActionFuture, Collection};
use crate::error::Error;
use crate::exec::Channel;
use crate::model::Document;
use crate::query::FilterFn;
use crate::store::Operation;

/// Counts the documents that match: [`Collection::count_documents`].
#[must_use = "nothing is counted until it is awaited"]
pub struct CountDocuments<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

/// Counts from the collection's metadata: [`Collection::estimated_document_count`].
#[must_use = "nothing is counted until it is awaited"]
pub struct EstimatedDocumentCount<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Counts the documents that match, exactly.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// assert_eq!(books.count_documents(|b| b.year.lt(1900)).await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn count_documents<'s>(&self, condition: impl FilterFn<M>) -> CountDocuments<'s, M> {
        let filter = filter::<M>(condition);
        CountDocuments {
            call: self.try_call(filter.map(|filter| Operation::Count { filter })),
            of: PhantomData,
        }
    }

    /// Counts the documents of older versions of the schema than the program writes, and those whose version is not a number.
    ///
    /// Filters and sorts name fields as they are stored, so a filter by the new name of a field does not find these documents.
    /// [`Db::migrate`](crate::Db::migrate) rewrites them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// assert_eq!(people.count_outdated().await?, 2);
    /// assert_eq!(people.find(|p| p.given_name.eq("Ada")).all().await?, [], "stored as `name`");
    /// db.migrate(models![Person]).await?;
    /// assert_eq!(people.count_outdated().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The model declares no versions: `schema(version = …)`.
    pub fn count_outdated<'s>(&self) -> CountDocuments<'s, M> {
        let filter = M::model().schema.map(|schema| schema.outdated().into());
        let filter = filter.ok_or_else(|| {
            Error::usage(
                "the model declares no versions, so no document is outdated: declare them by `schema(version = …)`",
            )
        });
        CountDocuments {
            call: self.try_call(filter.map(|filter| Operation::Count { filter })),
            of: PhantomData,
        }
    }

    /// Returns the collection's document count from its metadata: fast, but possibly wrong after an
    /// unclean shutdown or in a sharded cluster. It takes no session, because metadata ignores
    /// transactions.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// assert_eq!(books.estimated_document_count().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn estimated_document_count<'s>(&self) -> EstimatedDocumentCount<'s, M> {
        EstimatedDocumentCount {
            call: self.call(Operation::EstimatedCount),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> CountDocuments<'s, M> {
    /// Counts what a query matches.
    pub(super) fn of_find(mut call: Call<'s>) -> Self {
        let find = std::mem::replace(&mut call.request.operation, Operation::EstimatedCount);
        if let Operation::Find { filter, .. } = find {
            call.request.operation = Operation::Count { filter };
        }
        Self {
            call,
            of: PhantomData,
        }
    }

    options!(
        session command skip limit hint comment collation max_time read_concern read_preference
    );

    fn run(self) -> ActionFuture<'s, u64> {
        if self.call.related.is_none() {
            return self.call.future(|response, ()| response.count());
        }
        ActionFuture::several(Box::pin(async move {
            let model = self.call.model;
            let (store, request, session) = self.call.settled(None).await?;
            let mut channel = Channel::new(store, session);
            let rows = channel.of(model);
            rows.count(request.operation, request.options).await
        }))
    }
}

impl<'s, M: Document> EstimatedDocumentCount<'s, M> {
    options!(command comment max_time read_concern read_preference);

    fn run(self) -> ActionFuture<'s, u64> {
        self.call.future(|response, ()| response.count())
    }
}

action!(CountDocuments => ActionFuture<u64>);
action!(EstimatedDocumentCount => ActionFuture<u64>);

impl<M: Document> fmt::Debug for CountDocuments<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

impl<M: Document> fmt::Debug for EstimatedDocumentCount<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
