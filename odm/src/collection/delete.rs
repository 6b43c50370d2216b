//! `delete_one`, `delete_many` and `delete_all`.

use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;

use super::call::{Call, filter, some};
use super::options::{action, options};
use super::{ActionFuture, Collection, DeleteResult};
use crate::error::Result;
use crate::model::{Document, Writable};
use crate::query::FilterFn;
use crate::store::{Condition, Operation};

/// Removes documents: [`Collection::delete_one`], [`Collection::delete_many`],
/// [`Collection::delete_all`].
#[must_use = "nothing is removed until it is awaited"]
pub struct Delete<'s, M: Document> {
    pub(crate) call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Removes the first document that matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.delete_one(|b| b.title.eq("Emma")).await?;
    /// assert_eq!(result.deleted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_one<'s>(&self, condition: impl FilterFn<M>) -> Delete<'s, M>
    where
        M: Writable,
    {
        self.delete(filter::<M>(condition), false)
    }

    /// Removes every document that matches. A filter that matches everything is an error: use
    /// [`delete_all`](Self::delete_all).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.delete_many(|b| b.year.lt(1900)).await?;
    /// assert_eq!(result.deleted, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_many<'s>(&self, condition: impl FilterFn<M>) -> Delete<'s, M>
    where
        M: Writable,
    {
        let filter =
            filter::<M>(condition).and_then(|filter| some(filter, "delete_many", "delete_all"));
        self.delete(filter, true)
    }

    /// Removes every document of the collection; its indexes and its validator stay.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.delete_all().await?;
    /// assert_eq!(result.deleted, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_all<'s>(&self) -> Delete<'s, M>
    where
        M: Writable,
    {
        self.delete(Ok(BsonDocument::new().into()), true)
    }

    #[inline]
    pub(super) fn delete<'s>(&self, filter: Result<Condition>, multi: bool) -> Delete<'s, M> {
        Delete {
            call: self.try_call(filter.map(|filter| Operation::Delete { filter, multi })),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> Delete<'s, M> {
    options!(
        session in_session command explain hint comment collation let_vars write_concern leave_dangling
    );

    #[inline]
    fn run(self) -> ActionFuture<'s, DeleteResult> {
        self.call.future(|response, ()| {
            let deleted = response.written()?.n;
            Ok(DeleteResult { deleted })
        })
    }
}

action!(Delete => ActionFuture<DeleteResult>);

impl<M: Document> fmt::Debug for Delete<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
