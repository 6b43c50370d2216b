//! `find_one` and `get`.

use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;
use serde::de::DeserializeOwned;

use super::call::{Call, by_id, filter};
use super::find::{projection, whole};
use super::options::options;
use super::{Collection, Load, ReadAs};
use crate::error::Result;
use crate::model::{Document, Projection, Writable};
use crate::query::FilterFn;
use crate::store::{Condition, Operation};
use crate::types::IntoId;

/// Reads one document as `T`: [`Collection::find_one`], [`Collection::get`]. `J` are the relations that
/// [`join`](Self::join) loads.
#[must_use = "nothing is read until it is awaited"]
pub struct FindOne<'s, M: Document, T = M, J = ()> {
    pub(crate) call: Call<'s>,
    pub(crate) branches: J,
    of: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Collection<M> {
    /// Finds the first document that matches, if one does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let found = books.find_one(|b| b.title.eq("Walden")).await?;
    /// assert_eq!(found.map(|book| book.id), Some(2));
    /// assert_eq!(books.find_one(|b| b.title.eq("Persuasion")).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_one<'s>(&self, condition: impl FilterFn<M>) -> FindOne<'s, M> {
        self.one(filter::<M>(condition))
    }

    /// Finds the document with this `_id`, if there is one. The id is owned or borrowed; `&str` serves for a `String`, and a
    /// [`Ref`](crate::types::Ref) to the document for its id: `authors.get(&book.author)`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// assert_eq!(books.get(&3).await?, Some(book(3, "Ulysses", 1922)));
    /// assert_eq!(books.get(&4).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "find_by_id")]
    pub fn get<'s, By>(&self, id: impl IntoId<M, By>) -> FindOne<'s, M> {
        self.one(by_id::<M, By>(id))
    }

    fn one<'s>(&self, filter: Result<Condition>) -> FindOne<'s, M> {
        let operation = filter.map(|filter| Operation::Find { filter, one: true });
        let call = self.try_call(operation);
        FindOne::new(call, ())
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static, J> FindOne<'s, M, T, J> {
    pub(crate) fn new(call: Call<'s>, branches: J) -> Self {
        Self {
            call,
            branches,
            of: PhantomData,
        }
    }

    options!(
        session sort skip hint comment collation let_vars max_time read_concern read_preference min
        max allow_partial_results show_record_id return_key
    );

    /// Reads the document as `P`; the server sends only its fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
    /// #[odm(of = Book)]
    /// struct Title {
    ///     title: String,
    /// }
    ///
    /// let title = books.get(&3).select::<Title>().await?;
    /// assert_eq!(title, Some(Title { title: "Ulysses".to_owned() }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P: Projection<Of = M> + 'static>(mut self) -> FindOne<'s, M, P, J> {
        self.call.options().projection = Some(projection::<P>());
        FindOne::new(self.call, self.branches)
    }

    /// Sets a raw projection. Choose the type of its result with [`with_type`](Self::with_type).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let shown = doc! {"_id": 0, "year": 1};
    /// let found = books.get(&1).projection(shown).with_type::<odm::bson::Document>().await?;
    /// assert_eq!(found, Some(doc! {"year": 1815}));
    /// # Ok(())
    /// # }
    /// ```
    pub fn projection(mut self, projection: BsonDocument) -> Self {
        self.call.options().projection = Some(projection);
        self
    }

    /// Reads the document as `U`, which is not checked against the model.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let raw = books.get(&1).with_type::<odm::bson::Document>().await?.ok_or("no book")?;
    /// assert_eq!(raw.get_i32("year")?, 1815);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_type<U: DeserializeOwned + 'static>(self) -> FindOne<'s, M, U, J> {
        FindOne::new(self.call, self.branches)
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> FindOne<'s, M, T> {
    options!(command explain);

    fn run(self) -> impl Future<Output = Result<Option<T>>> + Send + use<'s, M, T> {
        let read_as = ReadAs::of(&self.call);
        let answer = self.call.send();
        async move {
            let mut cursor = answer.await?.cursor()?;
            match cursor.next().await {
                None => Ok(None),
                Some(Ok(raw)) => read_as.decode(raw).map(Some),
                Some(Err(error)) => Err(error.with_model(read_as.name())),
            }
        }
    }
}

impl<'s, M: Document> FindOne<'s, M> {
    /// Loads the document, to be changed and [saved](Collection::save).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, title: String, copies: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// # books.insert_one(&Book { id: 1, title: "Walden".to_owned(), copies: 3 }).await?;
    /// if let Some(mut book) = books.find_one(|b| b.title.eq("Walden")).load().await? {
    ///     book.copies -= 1;
    ///     books.save(&mut book).await?;
    /// }
    /// # assert_eq!(books.get(&1).await?.map(|book| book.copies), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The query has a projection: a save could not tell missing fields from removed ones.
    pub fn load(mut self) -> Load<'s, M>
    where
        M: Writable,
    {
        if let Err(error) = whole(&self.call) {
            self.call.error.get_or_insert(error);
        }
        Load::of(self.call)
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> IntoFuture for FindOne<'s, M, T> {
    type Output = Result<Option<T>>;
    type IntoFuture = futures_core::future::BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T, J: fmt::Debug> fmt::Debug for FindOne<'_, M, T, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindOne")
            .field("call", &self.call)
            .field("branches", &self.branches)
            .finish()
    }
}
