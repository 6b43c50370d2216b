//! The subset pattern: one document in two collections.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, RawDocumentBuf, doc};

use super::inverse::{Ends, Inverse, Rest};
use crate::collection::{Collection, InsertManyResult, encode_with_id, typed_id};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::{Document, Embedded, ModelMeta, Writable};
use crate::query::encode::encode_field;
use crate::query::{Filter, FromRaw, fields};
use crate::store::Afterwards;
use crate::types::IntoId;
use crate::write::{
    Atomic, ChecksReferences, PropagatedInsert, WriteSeveral, afterwards, inserts_propagate,
};

/// The insert of a document and its rest, about to be sent: [`Collection::insert_with_rest`].
///
/// [Without a transaction](Atomic::non_atomic), the rest is inserted before the document: if the second insert fails, the
/// rest is left over.
pub type InsertWithRest<'s, M, T> = Atomic<'s, RestInsert<M, T>>;

/// The writes of an [`InsertWithRest`]: a document and its rest, encoded once.
pub struct RestInsert<M: Document, T: Document> {
    collection: Collection<M>,
    document: RawDocumentBuf,
    id: M::Id,
    rest: RawDocumentBuf,
    rest_id: T::Id,
}

/// The insert of a document and its rest with what follows from them, about to be sent: [`InsertWithRest::propagate`].
///
/// It runs in a transaction: [`non_atomic`](Atomic::non_atomic) is an error.
pub type InsertWithRestPropagated<'s, M, T> = Atomic<'s, PropagatedRest<M, T>>;

/// The writes of an [`InsertWithRestPropagated`].
pub struct PropagatedRest<M: Document, T: Document> {
    document: PropagatedInsert<M, M::Id>,
    rest: PropagatedInsert<T, T::Id>,
}

/// The result of [`Collection::insert_with_rest`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertWithRestResult<I, R> {
    /// The `_id` of the document.
    pub inserted_id: I,
    /// The `_id` of the rest.
    pub rest_id: R,
}

/// The deletion of a document and its rest, about to be sent: [`Collection::delete_with_rest`].
///
/// [Without a transaction](Atomic::non_atomic), the document is deleted before the rest: if the second deletion fails, the
/// rest is left over.
pub type DeleteWithRest<'s, M, T> = Atomic<'s, RestDelete<M, T>>;

/// The writes of a [`DeleteWithRest`].
pub struct RestDelete<M: Document, T: Document> {
    collection: Collection<M>,
    /// The stored path of the reference in the rest.
    by: String,
    id: Bson,
    of: PhantomData<fn() -> T>,
}

/// The result of [`Collection::delete_with_rest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteWithRestResult {
    /// How many documents were deleted: 0 or 1.
    pub deleted: u64,
    /// How many rests were deleted: 0 or 1.
    pub deleted_rest: u64,
}

impl<M: Document> Collection<M> {
    /// Inserts a document and its rest, which the struct declares by `subset(details: MovieDetails, by = movie)`.
    ///
    /// Both are inserted in one transaction, the rest first. Where the deployment has no transactions, this fails before
    /// anything is written, unless you say [`non_atomic`](InsertWithRest::non_atomic).
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "movie", subset(details: MovieDetails, by = movie))]
    /// struct Movie {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "movie_details")]
    /// struct MovieDetails {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[serde(rename = "movie_id")]
    ///     #[odm(unique, rest_of = details)]
    ///     movie: Ref<Movie>,
    ///     fullplot: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let movies = db.collection::<Movie>();
    /// let movie = Movie { id: 1, title: "The Arrival of a Train".to_owned() };
    /// let fullplot = "A group of people are standing along the platform.".to_owned();
    /// let details = MovieDetails { id: 156, movie: Ref::to(&movie), fullplot };
    /// movies.insert_with_rest(&movie, |m| m.details, &details).await?;
    ///
    /// let movie = movies.get(&1).join(|m| m.details).await?.expect("it was inserted");
    /// assert!(movie.details().as_ref().is_some_and(|details| details.id == 156));
    ///
    /// let deleted = movies.delete_with_rest(&1, |m| m.details).await?;
    /// assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The rest refers to another document; or one of the two can't be inserted, and neither is.
    pub fn insert_with_rest<'s, N, T: Document + Writable>(
        &self,
        document: impl Borrow<M>,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> Inverse<M, N, T, Rest>,
        rest: impl Borrow<T>,
    ) -> InsertWithRest<'s, M, T>
    where
        M: Writable,
    {
        let relation = relation(fields::<M>());
        let writes = relation.alone().and_then(Ends::of::<M, T>);
        let writes = writes.and_then(|ends| {
            RestInsert::new(self.clone(), &ends, document.borrow(), rest.borrow())
        });
        Atomic::new(writes, M::model())
    }

    /// Deletes the document with this `_id`, and its rest; see [`insert_with_rest`](Self::insert_with_rest).
    ///
    /// Both are deleted in one transaction. Without one, [`non_atomic`](DeleteWithRest::non_atomic) deletes the document
    /// first: if the second command fails, the rest is left over, and the same call deletes it.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "movie", subset(details: MovieDetails, by = movie))]
    /// # struct Movie { #[serde(rename = "_id")] id: i32, title: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "movie_details")]
    /// # struct MovieDetails {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     #[serde(rename = "movie_id")] #[odm(unique, rest_of = details)] movie: Ref<Movie>,
    /// #     fullplot: String,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let movies = db.collection::<Movie>();
    /// # let movie = Movie { id: 1, title: "The Kid".to_owned() };
    /// # let fullplot = "A tramp finds a child.".to_owned();
    /// # let details = MovieDetails { id: 156, movie: Ref::to(&movie), fullplot };
    /// # movies.insert_with_rest(&movie, |m| m.details, &details).await?;
    /// let deleted = movies.delete_with_rest(&1, |m| m.details).await?;
    /// assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));
    /// assert!(db.collection::<MovieDetails>().get(&156).await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_with_rest<'s, N, T: Document + Writable, By>(
        &self,
        id: impl IntoId<M, By>,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> Inverse<M, N, T, Rest>,
    ) -> DeleteWithRest<'s, M, T>
    where
        M: Writable,
    {
        let relation = relation(fields::<M>());
        let writes = relation
            .alone()
            .and_then(Ends::of::<M, T>)
            .and_then(|ends| {
                let id = encode_field(&id.into_id()).map_err(|error| error.with_path("_id"))?;
                Ok(RestDelete {
                    collection: self.clone(),
                    by: ends.by.as_str().to_owned(),
                    id,
                    of: PhantomData,
                })
            });
        Atomic::new(writes, M::model())
    }
}

impl<'s, M: Document, T: Document> Atomic<'s, RestInsert<M, T>> {
    /// Also writes what follows from the two documents, and fills what follows from others in them, as by
    /// [`InsertOne::propagate`](crate::collection::InsertOne::propagate): the rest may copy fields of its document.
    ///
    /// Both are inserted in one transaction, the document first.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "movie", subset(details: MovieDetails, by = movie))]
    /// struct Movie {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "movie_details")]
    /// struct MovieDetails {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(unique, rest_of = details)]
    ///     movie: Ref<Movie>,
    ///     #[odm(copy_of(movie.title))]
    ///     title: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let movies = db.collection::<Movie>();
    /// let movie = Movie { id: 1, title: "The Kid".to_owned() };
    /// let details = MovieDetails { id: 156, movie: Ref::to(&movie), title: String::new() };
    /// movies.insert_with_rest(&movie, |m| m.details, &details).propagate().await?;
    ///
    /// let details = db.collection::<MovieDetails>().get(&156).await?.expect("it was inserted");
    /// assert_eq!(details.title, "The Kid");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing follows from documents of the two models; or [`non_atomic`](Atomic::non_atomic).
    pub fn propagate(self) -> InsertWithRestPropagated<'s, M, T> {
        self.and_then(|insert| {
            if !inserts_propagate(M::model())? && !inserts_propagate(T::model())? {
                return Err(Error::usage(
                    "nothing follows from documents of the two models: insert them without `propagate`",
                ));
            }
            let rest = insert.collection.other::<T>();
            let rest = rest.insert_encoded(vec![insert.rest], vec![insert.rest_id]);
            let (collection, document) = (insert.collection, vec![insert.document]);
            let document = collection.insert_encoded(document, vec![insert.id]);
            Ok(PropagatedRest {
                document: PropagatedInsert::new(document.encoded(true)?.0, one, false)?,
                rest: PropagatedInsert::new(rest.encoded(true)?.0, one, false)?,
            })
        })
    }
}

/// The `_id` of the one document that was inserted.
fn one<I>(result: InsertManyResult<I>) -> Result<I> {
    let id = result.inserted_ids.into_iter().next();
    id.ok_or_else(|| Error::malformed_reply("an `_id`"))
}

impl<M: Document, T: Document> ChecksReferences for PropagatedRest<M, T> {
    fn check_references(&mut self) -> Result<()> {
        self.document.check_references()?;
        self.rest.check_references()
    }
}

impl<M: Document, T: Document> RestInsert<M, T> {
    fn new(collection: Collection<M>, ends: &Ends, document: &M, rest: &T) -> Result<Self> {
        let (encoded, made_up) =
            encode_with_id(document).map_err(|error| error.with_model(M::model().name))?;
        let id = typed_id(document, made_up)?;
        let named = |error: Error| error.with_model(T::model().name);
        let (encoded_rest, made_up) = encode_with_id(rest).map_err(named)?;
        let rest_id = typed_id(rest, made_up)?;
        let mut keys = Keys::default();
        if let Some(key) = ends.key.value(&encoded) {
            keys.add(key)?;
        }
        let by = ends.by.value(&encoded_rest);
        if by.and_then(|by| keys.position(by)).is_none() {
            let message = "this field must refer to the document inserted with it: set it to `Ref::to(&document)`";
            return Err(named(Error::usage(message).with_path(ends.by.as_str())));
        }
        Ok(Self {
            collection,
            document: encoded,
            id,
            rest: encoded_rest,
            rest_id,
        })
    }
}

impl<M: Document, T: Document> WriteSeveral for RestInsert<M, T> {
    type Done = InsertWithRestResult<M::Id, T::Id>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.collection.channel()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<Self::Done> {
        let rest = self.collection.other::<T>();
        let rest = rest.insert_encoded(vec![self.rest.clone()], vec![self.rest_id.clone()]);
        rest.in_session(channel.session()).await?;
        let (document, id) = (vec![self.document.clone()], vec![self.id.clone()]);
        let document = self.collection.insert_encoded(document, id);
        document.in_session(channel.session()).await?;
        Ok(InsertWithRestResult {
            inserted_id: self.id.clone(),
            rest_id: self.rest_id.clone(),
        })
    }
}

impl<M: Document, T: Document> WriteSeveral for PropagatedRest<M, T> {
    type Done = InsertWithRestResult<M::Id, T::Id>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.document.channel()
    }

    fn enter(&mut self, is_callers: bool) {
        self.document.enter(is_callers);
        self.rest.enter(is_callers);
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<Self::Done> {
        if !channel.is_in_transaction() {
            return Err(Error::usage(
                "a document and its rest propagate in a transaction: leave `non_atomic()` out",
            ));
        }
        let inserted_id = self.document.write(channel).await?;
        let rest = self.rest.write(channel).await;
        let rest_id = rest.map_err(|error| error.with_model(T::model().name))?;
        Ok(InsertWithRestResult {
            inserted_id,
            rest_id,
        })
    }

    async fn settle(&self, done: Self::Done) -> Result<Self::Done> {
        self.document.look_again().await?;
        self.rest.look_again().await?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        let all = [self.document.after_commit(), self.rest.after_commit()];
        afterwards(all.into_iter().flatten().collect())
    }
}

impl<M: Document + Writable, T: Document + Writable> WriteSeveral for RestDelete<M, T> {
    type Done = DeleteWithRestResult;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.collection.channel()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<DeleteWithRestResult> {
        let equals = |path: &str| doc! {path: {"$eq": self.id.clone()}};
        let document = self
            .collection
            .delete_one(|_| Filter::from_raw(equals("_id")));
        let deleted = document.in_session(channel.session()).await?.deleted;
        let rest = self.collection.other::<T>();
        let rest = rest.delete_one(|_| Filter::from_raw(equals(&self.by)));
        let deleted_rest = rest.in_session(channel.session()).await?.deleted;
        Ok(DeleteWithRestResult {
            deleted,
            deleted_rest,
        })
    }
}

impl<M: Document, T: Document> fmt::Debug for RestInsert<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (document, rest) = (self.collection.name(), T::model().collection);
        write!(f, "InsertWithRest({document}, {rest})")
    }
}

impl<M: Document, T: Document> fmt::Debug for PropagatedRest<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropagatedRest({:?}, {:?})", self.document, self.rest)
    }
}

impl<M: Document, T: Document> fmt::Debug for RestDelete<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (document, rest) = (self.collection.name(), T::model().collection);
        write!(f, "DeleteWithRest({document}, {rest}, {})", self.id)
    }
}
