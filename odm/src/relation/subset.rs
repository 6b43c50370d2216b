//! The subset pattern: one document in two collections.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, RawDocumentBuf, doc};
use futures_core::future::BoxFuture;

use super::backward::{Ends, Inverse, Rest, ends};
use super::keys::Keys;
use crate::collection::joint::{Place, joint};
use crate::collection::transaction::Tries;
use crate::collection::{Collection, encode_with_id, typed_id};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::{Document, Embedded};
use crate::query::encode::encode_field;
use crate::query::{Filter, FromRaw, IntoValue, fields};
use crate::store::Session;

/// Inserts a document and its rest: [`Collection::insert_with_rest`].
#[must_use = "nothing is inserted until it is awaited"]
pub struct InsertWithRest<'s, M: Document, T: Document> {
    collection: Collection<M>,
    documents: Result<Pair<M, T>>,
    session: Option<&'s mut Session>,
    non_atomic: bool,
}

/// A document and its rest, encoded once.
struct Pair<M: Document, T: Document> {
    document: RawDocumentBuf,
    id: M::Id,
    rest: RawDocumentBuf,
    rest_id: T::Id,
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

/// Deletes a document and its rest: [`Collection::delete_with_rest`].
#[must_use = "nothing is deleted until it is awaited"]
pub struct DeleteWithRest<'s, M: Document, T: Document> {
    collection: Collection<M>,
    /// The stored path of the reference in the rest, and the id.
    filter: Result<(String, Bson)>,
    session: Option<&'s mut Session>,
    non_atomic: bool,
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
    pub fn insert_with_rest<'s, N, T: Document>(
        &self,
        document: impl Borrow<M>,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> Inverse<M, N, T, Rest>,
        rest: impl Borrow<T>,
    ) -> InsertWithRest<'s, M, T> {
        let relation = relation(fields::<M>());
        InsertWithRest {
            collection: self.clone(),
            documents: ends::<M, T>(relation.meta())
                .and_then(|ends| Pair::new(&ends, document.borrow(), rest.borrow())),
            session: None,
            non_atomic: false,
        }
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
    pub fn delete_with_rest<'s, N, T: Document>(
        &self,
        id: impl IntoValue<M::Id>,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> Inverse<M, N, T, Rest>,
    ) -> DeleteWithRest<'s, M, T> {
        let relation = relation(fields::<M>());
        let filter = ends::<M, T>(relation.meta()).and_then(|ends| {
            let id = encode_field(&id.into_value()).map_err(|error| error.with_path("_id"))?;
            Ok((ends.by.as_str().to_owned(), id))
        });
        DeleteWithRest {
            collection: self.clone(),
            filter,
            session: None,
            non_atomic: false,
            of: PhantomData,
        }
    }
}

impl<M: Document, T: Document> Pair<M, T> {
    fn new(ends: &Ends, document: &M, rest: &T) -> Result<Self> {
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
            document: encoded,
            id,
            rest: encoded_rest,
            rest_id,
        })
    }
}

impl<'s, M: Document, T: Document> InsertWithRest<'s, M, T> {
    /// Runs in the transaction of this session.
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
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// movies.insert_with_rest(&movie, |m| m.details, &details).session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// assert!(db.collection::<MovieDetails>().get(&156).await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Inserts without a transaction: the rest, then the document. If the second insert fails, the rest is left over.
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
    /// let inserted = movies.insert_with_rest(&movie, |m| m.details, &details).non_atomic().await?;
    /// assert_eq!((inserted.inserted_id, inserted.rest_id), (1, 156));
    /// # Ok(())
    /// # }
    /// ```
    pub fn non_atomic(mut self) -> Self {
        self.non_atomic = true;
        self
    }

    async fn run(self) -> Result<InsertWithRestResult<M::Id, T::Id>> {
        let collection = self.collection;
        let pair = self.documents?;
        let place = Place::new(self.session, self.non_atomic)
            .map_err(|error| error.with_model(M::model().name))?;
        let base = collection.channel();
        joint!(place, base, |channel| pair.write(&collection, channel))?;
        Ok(InsertWithRestResult {
            inserted_id: pair.id,
            rest_id: pair.rest_id,
        })
    }
}

impl<M: Document, T: Document> Pair<M, T> {
    async fn write(&self, collection: &Collection<M>, channel: &mut Channel<'_>) -> Result<()> {
        let rest = collection.other::<T>();
        let rest = rest.insert_encoded(vec![self.rest.clone()], vec![self.rest_id.clone()]);
        rest.within(channel.session()).await?;
        let document =
            collection.insert_encoded(vec![self.document.clone()], vec![self.id.clone()]);
        document.within(channel.session()).await?;
        Ok(())
    }
}

impl<'s, M: Document, T: Document> DeleteWithRest<'s, M, T> {
    /// Runs in the transaction of this session.
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
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// movies.delete_with_rest(&1, |m| m.details).session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert!(movies.get(&1).await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Deletes without a transaction: the document, then the rest.
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
    /// let deleted = movies.delete_with_rest(&1, |m| m.details).non_atomic().await?;
    /// assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn non_atomic(mut self) -> Self {
        self.non_atomic = true;
        self
    }

    async fn run(self) -> Result<DeleteWithRestResult> {
        let collection = self.collection;
        let named = |error: Error| error.with_model(M::model().name);
        let (by, id) = self.filter.map_err(named)?;
        let place = Place::new(self.session, self.non_atomic).map_err(named)?;
        let base = collection.channel();
        joint!(place, base, |channel| delete::<M, T>(
            &collection,
            &by,
            &id,
            channel
        ))
    }
}

async fn delete<M: Document, T: Document>(
    collection: &Collection<M>,
    by: &str,
    id: &Bson,
    channel: &mut Channel<'_>,
) -> Result<DeleteWithRestResult> {
    let document = collection.delete_one(|_| Filter::from_raw(doc! {"_id": {"$eq": id.clone()}}));
    let deleted = document.within(channel.session()).await?;
    let rest = collection.other::<T>();
    let rest = rest.delete_one(|_| Filter::from_raw(doc! {by: {"$eq": id.clone()}}));
    let deleted_rest = rest.within(channel.session()).await?;
    Ok(DeleteWithRestResult {
        deleted: deleted.deleted,
        deleted_rest: deleted_rest.deleted,
    })
}

impl<'s, M: Document, T: Document> IntoFuture for InsertWithRest<'s, M, T> {
    type Output = Result<InsertWithRestResult<M::Id, T::Id>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<'s, M: Document, T: Document> IntoFuture for DeleteWithRest<'s, M, T> {
    type Output = Result<DeleteWithRestResult>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T: Document> fmt::Debug for InsertWithRest<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (document, rest) = (self.collection.name(), T::model().collection);
        write!(f, "InsertWithRest({document}, {rest})")
    }
}

impl<M: Document, T: Document> fmt::Debug for DeleteWithRest<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (document, rest) = (self.collection.name(), T::model().collection);
        write!(f, "DeleteWithRest({document}, {rest}, {:?})", self.filter)
    }
}
