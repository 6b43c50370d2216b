//! `find_one_and_update`, `find_one_and_replace` and `find_one_and_delete`.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use bson::{Document as BsonDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::call::{Call, Reach, filter, find_and_replace, operands};
use super::find::projection;
use super::options::options;
use super::{Collection, ReadAs, Repeated, guarded};
use crate::error::Result;
use crate::model::{Document, Projection, Writable};
use crate::query::{FilterFn, fields};
use crate::store::{Operation, Session};
use crate::update::UpdateFn;

/// Emits the builder methods that choose the type and the fields of the returned document.
macro_rules! returned {
    ($builder:ident) => {
        /// Returns the document as `P`; the server sends only its fields.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// #[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
        /// #[odm(of = Book)]
        /// struct Year {
        ///     year: i32,
        /// }
        ///
        /// let update = books.find_one_and_update(|b| b.id.eq(1), |b| b.year.inc(1));
        /// assert_eq!(update.select::<Year>().await?, Some(Year { year: 1815 }));
        /// # Ok(())
        /// # }
        /// ```
        pub fn select<P: Projection<Of = M> + 'static>(mut self) -> $builder<'s, M, P> {
            self.call.options().projection = Some(projection::<P>());
            self.with_type()
        }

        /// Sets a raw projection. Choose the type of its result with [`with_type`](Self::with_type).
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let update = books.find_one_and_update(|b| b.id.eq(1), |b| b.year.inc(1));
        /// let update = update.projection(doc! {"_id": 0, "year": 1});
        /// let shown = update.with_type::<odm::bson::Document>().await?;
        /// assert_eq!(shown, Some(doc! {"year": 1815}));
        /// # Ok(())
        /// # }
        /// ```
        pub fn projection(mut self, projection: BsonDocument) -> Self {
            self.call.options().projection = Some(projection);
            self
        }

        /// Returns the document as `U`, which is not checked against the model.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let (db, books) = three_books().await?;
        /// let deletion = books.find_one_and_delete(|b| b.id.eq(1));
        /// let deleted = deletion.with_type::<odm::bson::Document>().await?.ok_or("no book")?;
        /// assert_eq!(deleted.get_str("title")?, "Emma");
        /// # Ok(())
        /// # }
        /// ```
        pub fn with_type<U: DeserializeOwned + 'static>(self) -> $builder<'s, M, U> {
            $builder {
                call: self.call,
                of: PhantomData,
            }
        }
    };
}

/// Implements `IntoFuture` for a builder that returns the document.
macro_rules! returns {
    ($builder:ident) => {
        impl<'s, M: Document, T: DeserializeOwned + 'static> IntoFuture for $builder<'s, M, T> {
            type Output = Result<Option<T>>;
            type IntoFuture = BoxFuture<'s, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(found(self.call))
            }
        }
    };
}

/// Changes one document and returns it: [`Collection::find_one_and_update`].
#[must_use = "nothing is changed until it is awaited"]
pub struct FindOneAndUpdate<'s, M: Document, T = M> {
    call: Call<'s>,
    of: PhantomData<fn() -> (M, T)>,
}

/// Replaces one document and returns it: [`Collection::find_one_and_replace`].
#[must_use = "nothing is replaced until it is awaited"]
pub struct FindOneAndReplace<'s, M: Document, T = M> {
    call: Call<'s>,
    of: PhantomData<fn() -> (M, T)>,
}

/// Removes one document and returns it: [`Collection::find_one_and_delete`].
#[must_use = "nothing is removed until it is awaited"]
pub struct FindOneAndDelete<'s, M: Document, T = M> {
    call: Call<'s>,
    of: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Collection<M> {
    /// Updates the first document that matches and returns it, atomically.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReturnDocument;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let before = books.find_one_and_update(|b| b.id.eq(1), |b| b.year.inc(1)).await?;
    /// assert_eq!(before.map(|book| book.year), Some(1815));
    ///
    /// let update = books.find_one_and_update(|b| b.id.eq(1), |b| b.year.inc(1));
    /// let after = update.return_document(ReturnDocument::After).await?;
    /// assert_eq!(after.map(|book| book.year), Some(1817));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_full`](crate::Error::is_full): a list with a declared maximum has no room for the new values.
    /// [`is_duplicate_element`](crate::Error::is_duplicate_element): an element has the key of the new one.
    /// The document stays as it is.
    pub fn find_one_and_update<'s>(
        &self,
        condition: impl FilterFn<M>,
        change: impl UpdateFn<M>,
    ) -> FindOneAndUpdate<'s, M>
    where
        M: Writable,
    {
        let condition = condition(fields::<M>()).into_node();
        let change = change(fields::<M>()).into_changes();
        let ready = operands(condition, change, M::model(), Reach::One);
        FindOneAndUpdate {
            call: self.update_call(ready, Operation::FindAndUpdate),
            of: PhantomData,
        }
    }

    /// Replaces the first document that matches and returns it, atomically.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let before = books.find_one_and_replace(|b| b.id.eq(1), book(1, "Emma", 1816)).await?;
    /// assert_eq!(before, Some(book(1, "Emma", 1815)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_one_and_replace<'s>(
        &self,
        condition: impl FilterFn<M>,
        replacement: impl Borrow<M>,
    ) -> FindOneAndReplace<'s, M>
    where
        M: Writable,
    {
        let filter = filter::<M>(condition);
        let operation =
            filter.and_then(|filter| find_and_replace::<M>(filter, replacement.borrow()));
        FindOneAndReplace {
            call: self.try_call(operation),
            of: PhantomData,
        }
    }

    /// Removes the first document that matches and returns it, atomically.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let oldest = books.find_one_and_delete(|_| Filter::all()).sort(|b| b.year.asc()).await?;
    /// assert_eq!(oldest, Some(book(1, "Emma", 1815)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_one_and_delete<'s>(&self, condition: impl FilterFn<M>) -> FindOneAndDelete<'s, M>
    where
        M: Writable,
    {
        let filter = filter::<M>(condition);
        FindOneAndDelete {
            call: self.try_call(filter.map(|filter| Operation::FindAndDelete { filter })),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> FindOneAndUpdate<'s, M, T> {
    options!(
        session in_session command sort upsert return_document hint comment collation let_vars max_time
        bypass_document_validation write_concern leave_stale
    );

    returned!(FindOneAndUpdate);

    /// The change, to be made as part of several writes, and the session.
    pub(crate) fn repeated(self) -> Result<(Repeated<M>, Option<&'s mut Session>)> {
        Repeated::of(self.call)
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> FindOneAndReplace<'s, M, T> {
    options!(
        session command sort upsert return_document hint comment collation let_vars max_time
        bypass_document_validation write_concern leave_stale
    );

    returned!(FindOneAndReplace);

    /// The change, to be made as part of several writes, and the session.
    pub(crate) fn repeated(self) -> Result<(Repeated<M>, Option<&'s mut Session>)> {
        Repeated::of(self.call)
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> FindOneAndDelete<'s, M, T> {
    options!(
        session command sort hint comment collation let_vars max_time write_concern leave_dangling
    );

    returned!(FindOneAndDelete);

    /// The delete, to be made as part of several writes.
    pub(crate) fn into_call(self) -> Call<'s> {
        self.call
    }
}

pub(super) async fn found<T: DeserializeOwned>(call: Call<'_>) -> Result<Option<T>> {
    let read_as = ReadAs::of(&call);
    match found_raw(call).await? {
        Some(raw) => read_as.decode(&raw).map(Some),
        None => Ok(None),
    }
}

pub(super) async fn found_raw(call: Call<'_>) -> Result<Option<RawDocumentBuf>> {
    let is_update = call.request.operation.filter().is_some();
    if call.guards.is_some() || is_update && call.has_versions() {
        guarded::find_and_update(call).await
    } else {
        call.send().await?.document()
    }
}

returns!(FindOneAndUpdate);
returns!(FindOneAndReplace);
returns!(FindOneAndDelete);

impl<M: Document, T> fmt::Debug for FindOneAndUpdate<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

impl<M: Document, T> fmt::Debug for FindOneAndReplace<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

impl<M: Document, T> fmt::Debug for FindOneAndDelete<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
