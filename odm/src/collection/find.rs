//! `find` and `find_all`.

use std::fmt;
use std::marker::PhantomData;

use bson::{Document as BsonDocument, doc};
use serde::de::DeserializeOwned;

use super::call::{Call, filter};
use super::options::options;
use super::pages::Paging;
use super::{Collection, CountDocuments, Cursor, Loaded, ReadAs};
use crate::error::{Error, Result};
use crate::model::{Document, ProjectedField, Projection};
use crate::query::FilterFn;
use crate::store::{Attempt, Operation};

/// Reads documents as `T`: [`Collection::find`], [`Collection::find_all`].
///
/// `J` are the relations that [`join`](Self::join) loads: without one, `.await` reads the documents; with them, `all`,
/// `first` and `stream` read rows.
#[must_use = "nothing is read until it is awaited, or read by `all`, `first` or `stream`"]
pub struct Find<'s, M: Document, T = M, J = ()> {
    pub(crate) call: Call<'s>,
    pub(crate) branches: J,
    of: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Collection<M> {
    /// Finds the documents that match. `.await` returns a [`Cursor`], [`.all()`](Find::all) a `Vec`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let old = books.find(|b| b.year.lt(1900)).sort(|b| b.year.desc()).all().await?;
    /// assert_eq!(old.iter().map(|book| book.id).collect::<Vec<_>>(), [2, 1]);
    ///
    /// let mut cursor = books.find(|b| b.title.starts_with("U")).await?;
    /// while let Some(book) = cursor.next().await {
    ///     assert_eq!(book?.title, "Ulysses");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn find<'s>(&self, condition: impl FilterFn<M>) -> Find<'s, M> {
        let filter = filter::<M>(condition);
        let operation = filter.map(|filter| Operation::Find { filter, one: false });
        Find::new(self.try_call(operation), ())
    }

    /// Finds every document of the collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let last = books.find_all().sort(|b| b.year.desc()).limit(1).all().await?;
    /// assert_eq!(last[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_all<'s>(&self) -> Find<'s, M> {
        let filter = BsonDocument::new().into();
        Find::new(self.call(Operation::Find { filter, one: false }), ())
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static, J> Find<'s, M, T, J> {
    pub(crate) fn new(call: Call<'s>, branches: J) -> Self {
        Self {
            call,
            branches,
            of: PhantomData,
        }
    }

    options!(
        session sort skip limit batch_size hint comment collation let_vars max_time allow_disk_use
        read_concern read_preference min max allow_partial_results no_cursor_timeout show_record_id
        return_key
    );

    /// Reads documents as `P`; the server sends only its fields.
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
    /// let titles = books.find(|b| b.year.gt(1900)).select::<Title>().all().await?;
    /// assert_eq!(titles, [Title { title: "Ulysses".to_owned() }]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P: Projection<Of = M> + 'static>(mut self) -> Find<'s, M, P, J> {
        self.call.options().projection = Some(projection::<P>());
        Find::new(self.call, self.branches)
    }

    /// Sets a raw projection. Choose the type of its results with [`with_type`](Self::with_type).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let shown = doc! {"_id": 0, "age": {"$subtract": [2026, "$year"]}};
    /// let ages = books.find(|b| b.id.eq(1)).projection(shown).with_type::<odm::bson::Document>().all().await?;
    /// assert_eq!(ages, [doc! {"age": 211}]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn projection(mut self, projection: BsonDocument) -> Self {
        self.call.options().projection = Some(projection);
        self
    }

    /// Reads documents as `U`, which is not checked against the model.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let raw = books.find(|b| b.id.eq(1)).with_type::<odm::bson::Document>().all().await?;
    /// assert_eq!(raw[0].get_str("title")?, "Emma");
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_type<U: DeserializeOwned + 'static>(self) -> Find<'s, M, U, J> {
        Find::new(self.call, self.branches)
    }

    /// Adds a condition, which the documents must meet as well.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32, title: String }
    /// # fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// # let (since, title) = (Some(1900), None::<String>);
    /// let mut found = books.find_all();
    /// if let Some(since) = since {
    ///     found = found.filter(|b| b.year.gte(since));
    /// }
    /// if let Some(title) = &title {
    ///     found = found.filter(|b| b.title.eq(title));
    /// }
    /// let filter = doc! {"year": {"$gte": 1900}};
    /// assert_eq!(found.command()?.get_document("filter").ok(), Some(&filter));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<M>) -> Self {
        match filter::<M>(condition) {
            Ok(more) => {
                if let Operation::Find { filter, .. } = &mut self.call.request.operation {
                    filter.join(more.into_document());
                }
            }
            Err(error) => {
                self.call.error.get_or_insert(error);
            }
        }
        self
    }

    /// Counts the documents that the query matches, whatever its page, `skip` and `limit`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let old = || books.find(|b| b.year.lt(1900)).sort(|b| b.year.asc());
    /// assert_eq!(old().limit(1).all().await?.len(), 1);
    /// assert_eq!(old().limit(1).count().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The query has an option that a count can't have: `min`, `max`, `let_vars`, `allow_partial_results`, `after`.
    pub fn count(self) -> CountDocuments<'s, M> {
        CountDocuments::of_find(self.without_order())
    }

    /// The query without its page and order.
    fn without_order(self) -> Call<'s> {
        let mut call = self.call;
        let is_after = matches!(call.paging.as_deref(), Some(Paging::After(Some(_))));
        let options = call.options();
        let unknown = [
            ("min", options.min.is_some()),
            ("max", options.max.is_some()),
            ("let_vars", options.let_vars.is_some()),
            (
                "allow_partial_results",
                options.allow_partial_results.is_some(),
            ),
            ("after", is_after),
        ];
        if let Some((name, _)) = unknown.into_iter().find(|(_, is_set)| *is_set) {
            let refusal = Error::usage(format!(
                "a query with `{name}` can't be counted: leave it out of the count"
            ));
            call.error.get_or_insert(refusal);
        }
        call.paging = None;
        if let Some(related) = &mut call.related {
            related.forget_order();
        }
        let options = call.options();
        options.skip = None;
        options.limit = None;
        // These do not change which documents match.
        options.sort = None;
        options.projection = None;
        options.batch_size = None;
        options.allow_disk_use = None;
        options.no_cursor_timeout = None;
        options.show_record_id = None;
        options.return_key = None;
        call
    }

    /// Whether a document matches. It reads the `_id` of one document.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// assert!(!books.find(|b| b.year.gt(2000)).exists().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn exists(self) -> Result<bool> {
        let mut call = self.call;
        call.any_version = true;
        call.options().projection = Some(doc! {"_id": 1});
        if !call.paging.as_deref().is_some_and(Paging::is_keyset) {
            call.options().sort = None;
            if let Some(related) = &mut call.related {
                related.forget_order();
            }
        }
        let first = Find::<M, BsonDocument>::new(call, ()).first();
        Ok(first.await?.is_some())
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> Find<'s, M, T> {
    options!(command explain);

    /// Collects all documents, or returns the first error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let titles = books.find(|b| b.year.lt(1850)).all().await?;
    /// assert_eq!(titles, [book(1, "Emma", 1815)]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(self) -> Result<Vec<T>> {
        self.run().await?.all().await
    }

    /// Returns the first document, if one matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let oldest = books.find_all().sort(|b| b.year.asc()).first().await?;
    /// assert_eq!(oldest, Some(book(1, "Emma", 1815)));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn first(mut self) -> Result<Option<T>> {
        self.call.request.operation.only_first();
        let mut cursor = self.run().await?;
        cursor.next().await.transpose()
    }

    fn run(self) -> impl Future<Output = Result<Cursor<'s, T>>> + Send + use<'s, M, T> {
        let read_as = ReadAs::of(&self.call);
        let answer = self.call.send();
        async move { Ok(Cursor::new(answer.await?.cursor()?, read_as)) }
    }
}

impl<M: Document> Find<'_, M> {
    /// Loads all documents, to be changed and [saved](Collection::save).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// # books.insert_one(&Book { id: 1, year: 190 }).await?;
    /// for mut book in books.find(|b| b.year.lt(1000)).load().await? {
    ///     book.year *= 10;
    ///     books.save(&mut book).await?;
    /// }
    /// # assert!(books.find(|b| b.year.eq(1900)).exists().await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The query has a projection: a save could not tell missing fields from removed ones.
    pub async fn load(self) -> Result<Vec<Loaded<M>>> {
        let attempt = whole(&self.call)?;
        let (call, name) = (self.call, M::model().name);
        let mut cursor = call.send().await?.cursor()?;
        let mut all = Vec::new();
        while let Some(raw) = cursor.next().await {
            let loaded = raw.and_then(|raw| Loaded::from_raw(raw, attempt.clone()));
            all.push(loaded.map_err(|error| error.with_model(name))?);
        }
        Ok(all)
    }
}

/// The transaction of a call that reads whole documents.
pub(super) fn whole(call: &Call<'_>) -> Result<Option<Attempt>> {
    if call.request.options.projection.is_some() {
        return Err(Error::usage(
            "a document with a projection can't be loaded: a save would not know its other fields",
        )
        .with_model(call.model.name));
    }
    let session = call.session.as_ref();
    Ok(session.and_then(|session| session.attempt()))
}

/// The projection document of a derived struct.
pub(crate) fn projection<P: Projection>() -> BsonDocument {
    let mut projection = doc! {};
    if P::FIELDS.iter().all(|field| field.name != "_id") {
        projection.insert("_id", 0);
    }
    project(P::FIELDS, "", &mut projection);
    projection
}

/// Adds the fields inside the one at `path`.
fn project(fields: &[ProjectedField], path: &str, projection: &mut BsonDocument) {
    for field in fields {
        let path = match path {
            "" => field.name.to_owned(),
            path => format!("{path}.{}", field.name),
        };
        if field.fields.is_empty() {
            projection.insert(path, 1);
        } else {
            project(field.fields, &path, projection);
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> IntoFuture for Find<'s, M, T> {
    type Output = Result<Cursor<'s, T>>;
    type IntoFuture = futures_core::future::BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T, J: fmt::Debug> fmt::Debug for Find<'_, M, T, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Find")
            .field("call", &self.call)
            .field("branches", &self.branches)
            .finish()
    }
}
