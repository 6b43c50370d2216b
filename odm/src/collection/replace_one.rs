//! `replace_one`.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use super::call::{Call, filter, replace};
use super::options::{action, options};
use super::{ActionFuture, Collection, Repeated, UpdateResult, guarded};
use crate::error::Result;
use crate::model::{Document, Writable};
use crate::query::FilterFn;
use crate::store::{Condition, Session};

/// Replaces one document: [`Collection::replace_one`].
#[must_use = "nothing is replaced until it is awaited"]
pub struct ReplaceOne<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Replaces the first document that matches. Stored fields that the model does not declare are
    /// lost; [`save`](Self::save) keeps them and sends only changed fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.replace_one(|b| b.title.eq("Emma"), book(1, "Emma", 1816)).await?;
    /// assert_eq!(result.modified, 1);
    /// assert_eq!(books.get(&1).await?, Some(book(1, "Emma", 1816)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace_one<'s>(
        &self,
        condition: impl FilterFn<M>,
        replacement: impl Borrow<M>,
    ) -> ReplaceOne<'s, M>
    where
        M: Writable,
    {
        self.replace(filter::<M>(condition), replacement.borrow())
    }

    pub(super) fn replace<'s>(
        &self,
        filter: Result<Condition>,
        replacement: &M,
    ) -> ReplaceOne<'s, M> {
        let operation = filter.and_then(|filter| replace::<M>(filter, replacement));
        ReplaceOne {
            call: self.try_call(operation),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> ReplaceOne<'s, M> {
    options!(
        session command upsert hint comment collation let_vars bypass_document_validation
        write_concern leave_stale
    );

    /// The replacement, to be made as part of several writes, and the session.
    pub(crate) fn repeated(self) -> Result<(Repeated<M>, Option<&'s mut Session>)> {
        Repeated::of(self.call)
    }

    fn run(self) -> ActionFuture<'s, UpdateResult<M::Id>> {
        if self.call.has_versions() {
            return ActionFuture::several(Box::pin(guarded::update::<M>(self.call)));
        }
        self.call
            .future(|response, ()| UpdateResult::new::<M>(response.written()?))
    }
}

action!(ReplaceOne => ActionFuture<UpdateResult<M::Id>>);

impl<M: Document> fmt::Debug for ReplaceOne<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
