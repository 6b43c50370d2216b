//! `update_one`, `update_many` and `update_all`.

use std::fmt;
use std::marker::PhantomData;

use super::call::{Call, Reach, operands};
use super::options::{action, options};
use super::repeated::Repeated;
use super::{ActionFuture, Collection, UpdateResult, guarded};
use crate::error::Result;
use crate::model::{Document, Writable};
use crate::query::{Filter, FilterFn, fields};
use crate::store::{Operation, Session};
use crate::update::{Update as Change, UpdateFn};

/// Updates documents: [`Collection::update_one`], [`Collection::update_many`],
/// [`Collection::update_all`].
#[must_use = "nothing is changed until it is awaited"]
pub struct UpdateDocuments<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Updates the first document that matches.
    ///
    /// Additions to lists with a declared maximum carry a condition ([`push`](crate::query::Field::push)): a document
    /// whose list has no room does not match. If nothing matched, one more command for each such list finds out whether
    /// that is why ([`UpdateResult::withheld`]).
    ///
    /// As an upsert, such an update must name its document, by equality on `_id` or on the field of a declared unique
    /// index; otherwise it could insert a second document beside the full one, and is refused. The index must exist: sync
    /// creates it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.update_one(|b| b.title.eq("Emma"), |b| b.year.set(1816) & b.tags.push("novel")).await?;
    /// assert_eq!((result.matched, result.modified), (1, 1));
    /// assert_eq!(books.get(&1).await?.ok_or("no book")?.tags, ["novel"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_one<'s>(
        &self,
        condition: impl FilterFn<M>,
        change: impl UpdateFn<M>,
    ) -> UpdateDocuments<'s, M>
    where
        M: Writable,
    {
        let condition = condition(fields::<M>());
        self.update(condition, change(fields::<M>()), Reach::One)
    }

    /// Updates every document that matches. A filter that matches everything is an error: use
    /// [`update_all`](Self::update_all).
    ///
    /// If the update adds to lists with a declared maximum, a count of the documents that have no room goes before it
    /// ([`UpdateResult::withheld`]); the count is exact in a transaction.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.update_many(|b| b.year.lt(1900), |b| b.tags.add_to_set("classic")).await?;
    /// assert_eq!(result.modified, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_many<'s>(
        &self,
        condition: impl FilterFn<M>,
        change: impl UpdateFn<M>,
    ) -> UpdateDocuments<'s, M>
    where
        M: Writable,
    {
        let condition = condition(fields::<M>());
        self.update(condition, change(fields::<M>()), Reach::Many)
    }

    /// Updates every document of the collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.update_all(|b| b.year.inc(1)).await?;
    /// assert_eq!(result.modified, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_all<'s>(&self, change: impl UpdateFn<M>) -> UpdateDocuments<'s, M>
    where
        M: Writable,
    {
        self.update(Filter::all(), change(fields::<M>()), Reach::All)
    }

    fn update<'s>(
        &self,
        condition: Filter<M>,
        change: Change<M>,
        reach: Reach,
    ) -> UpdateDocuments<'s, M> {
        let ready = operands(
            condition.into_node(),
            change.into_changes(),
            M::model(),
            reach,
        );
        UpdateDocuments {
            call: self.update_call(ready, Operation::Update),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> UpdateDocuments<'s, M> {
    options!(
        session in_session command explain upsert hint comment collation let_vars bypass_document_validation
        write_concern leave_stale
    );

    /// The update, to be made as part of several writes, and the session.
    pub(crate) fn repeated(self) -> Result<(Repeated<M>, Option<&'s mut Session>)> {
        Repeated::of(self.call)
    }

    /// The update that a call makes.
    pub(super) fn of(call: Call<'s>) -> Self {
        Self {
            call,
            of: PhantomData,
        }
    }

    fn run(self) -> ActionFuture<'s, UpdateResult<M::Id>> {
        if self.call.guards.is_some() || self.call.has_versions() {
            return ActionFuture::several(Box::pin(guarded::update::<M>(self.call)));
        }
        self.call
            .future(|response, ()| UpdateResult::new::<M>(response.written()?))
    }
}

action!(UpdateDocuments => ActionFuture<UpdateResult<M::Id>>);

impl<M: Document> fmt::Debug for UpdateDocuments<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
