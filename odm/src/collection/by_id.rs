//! The verbs that take an `_id`: `update_by_id`, `replace_by_id` and `delete_by_id`.

use std::borrow::Borrow;

use super::call::by_id;
use super::{Collection, Delete, ReplaceOne, UpdateDocuments};
use crate::model::{Document, Writable};
use crate::query::id;
use crate::types::IntoId;
use crate::update::UpdateFn;

impl<M: Document> Collection<M> {
    /// Updates the document with this `_id`, as [`update_one`](Self::update_one) does. The id is owned or borrowed, as in
    /// [`get`](Self::get).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, copies: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// # books.insert_one(&Book { id: 1, copies: 3 }).await?;
    /// let result = books.update_by_id(&1, |b| b.copies.inc(1)).await?;
    /// assert_eq!(result.matched, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "find_by_id_and_update")]
    pub fn update_by_id<'s, By>(
        &self,
        id_of: impl IntoId<M, By>,
        change: impl UpdateFn<M>,
    ) -> UpdateDocuments<'s, M>
    where
        M: Writable,
    {
        self.update_one(|_| id::<M>().eq(id_of.into_id()), change)
    }

    /// Replaces the document with this `_id`, as [`replace_one`](Self::replace_one) does.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, copies: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// let book = Book { id: 1, copies: 3 };
    /// books.replace_by_id(&1, &book).upsert(true).await?;
    /// assert_eq!(books.get(&1).await?.map(|book| book.copies), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace_by_id<'s, By>(
        &self,
        id: impl IntoId<M, By>,
        replacement: impl Borrow<M>,
    ) -> ReplaceOne<'s, M>
    where
        M: Writable,
    {
        self.replace(by_id::<M, By>(id), replacement.borrow())
    }

    /// Removes the document with this `_id`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, copies: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// # books.insert_one(&Book { id: 1, copies: 3 }).await?;
    /// assert_eq!(books.delete_by_id(&1).await?.deleted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_by_id<'s, By>(&self, id: impl IntoId<M, By>) -> Delete<'s, M>
    where
        M: Writable,
    {
        self.delete(by_id::<M, By>(id), false)
    }
}
