//! `insert_one`.

use std::borrow::Borrow;
use std::fmt;

use super::call::{Call, encode_with_id, typed_id};
use super::options::{action, options};
use super::{ActionFuture, Collection, Encoded, InsertOneResult};
use crate::error::{Error, Result};
use crate::model::{Document, Writable};
use crate::store::{Operation, Response, Session};

/// Inserts one document: [`Collection::insert_one`].
#[must_use = "nothing is inserted until it is awaited"]
pub struct InsertOne<'s, M: Document> {
    call: Call<'s>,
    id: Option<M::Id>,
}

impl<M: Document> Collection<M> {
    /// Inserts a document.
    ///
    /// If the model's serializer leaves out the `_id`, the document gets a new `ObjectId`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let inserted = books.insert_one(book(4, "Persuasion", 1817)).await?;
    /// assert_eq!(inserted.inserted_id, 4);
    ///
    /// let error = books.insert_one(&book(4, "Mansfield Park", 1814)).await.unwrap_err();
    /// assert!(error.is_duplicate_key());
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_one<'s>(&self, document: impl Borrow<M>) -> InsertOne<'s, M>
    where
        M: Writable,
    {
        let document = document.borrow();
        let encoded = encode_with_id(document)
            .and_then(|(raw, made_up)| Ok((raw, typed_id(document, made_up)?)));
        match encoded {
            Ok((document, id)) => InsertOne {
                call: self.call(Operation::InsertOne { document }),
                id: Some(id),
            },
            Err(error) => InsertOne {
                call: self.refused(error),
                id: None,
            },
        }
    }
}

impl<'s, M: Document> InsertOne<'s, M> {
    options!(session command comment bypass_document_validation write_concern leave_stale);

    /// The document, to be inserted as part of several writes, and the session. The other writes may propagate it.
    pub(crate) fn encoded(
        mut self,
        propagates: bool,
    ) -> Result<(Encoded<M>, Option<&'s mut Session>)> {
        self.call.leaves_stale |= propagates;
        Encoded::of(self.call, self.id.into_iter().collect())
    }

    fn run(self) -> ActionFuture<'s, InsertOneResult<M::Id>, Option<M::Id>> {
        let read = |response: Response<'s>, id: Option<M::Id>| {
            response.written()?;
            let inserted_id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
            Ok(InsertOneResult { inserted_id })
        };
        self.call.future_with(self.id, read)
    }
}

action!(InsertOne => ActionFuture<InsertOneResult<M::Id>, Option<M::Id>>);

impl<M: Document> fmt::Debug for InsertOne<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
