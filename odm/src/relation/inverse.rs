//! Inverse relations, which a struct declares: from a document to those that refer to it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bson::doc;
use serde::de::IgnoredAny;

use super::branch::{Also, IntoBranch, also};
use super::count::Counted;
use super::scope::Scope;
use crate::error::{Error, Result};
use crate::exec::StoredPath;
use crate::model::{Document, Embedded, InverseMeta, Path, Projection, name};
use crate::query::{FilterFn, SortFn};

/// An inverse relation, named by `N`: documents of `T` that refer to one of `M`.
///
/// `has_many` and `has_squillions` join a list ([`Many`]), `has_one` and `subset` at most one document ([`One`], [`Rest`]).
/// The methods say which documents are read, in which order, how many and as which type.
#[must_use = "nothing is loaded until the find that joins it is awaited"]
pub struct Inverse<M, N, T, K, D = T, J = ()> {
    meta: &'static InverseMeta,
    /// Where the document is whose relation it is: the root, but for a document beside another one in a pipeline.
    place: Path,
    /// What the methods have said; a handle that is made for each closure has none, and costs nothing.
    search: Option<Box<Search>>,
    branches: J,
    of: PhantomData<Of<M, N, T, K, D>>,
}

/// The types of a relation, without a value of them.
pub(super) type Of<M, N, T, K, D> = fn() -> (M, N, T, K, D);

/// The documents on the other side to read.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) ends: Ends,
    pub(super) scope: Scope,
}

/// The two ends of a relation, as they are stored.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// In the rows: the field whose value the other documents store.
    pub(super) key: StoredPath,
    /// In the other documents: the reference.
    pub(super) by: StoredPath,
    /// Whether the reference is in a list.
    pub(super) through_array: bool,
}

/// The documents that refer to a row, as a list: `Vec<Arc<T>>`.
#[derive(Debug)]
pub enum Many {}

/// The document that refers to a row: `Option<Arc<T>>`.
#[derive(Debug)]
pub enum One {}

/// The rest of a document that is split by the subset pattern: `Option<Arc<T>>`.
#[derive(Debug)]
pub enum Rest {}

/// Whether a document refers to a row.
#[derive(Debug)]
pub enum Exists {}

/// The value that a row has for the documents that refer to it.
pub trait InverseValue: 'static {
    /// The value in the row.
    type Value<Row: Send + Sync + 'static>: Send + Sync + 'static;

    /// Makes the value.
    fn of<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> Self::Value<Row>;
}

impl InverseValue for Many {
    type Value<Row: Send + Sync + 'static> = Vec<Arc<Row>>;

    fn of<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> Vec<Arc<Row>> {
        rows
    }
}

impl InverseValue for One {
    type Value<Row: Send + Sync + 'static> = Option<Arc<Row>>;

    fn of<Row: Send + Sync + 'static>(mut rows: Vec<Arc<Row>>) -> Option<Arc<Row>> {
        (!rows.is_empty()).then(|| rows.swap_remove(0))
    }
}

impl InverseValue for Rest {
    type Value<Row: Send + Sync + 'static> = Option<Arc<Row>>;

    fn of<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> Option<Arc<Row>> {
        One::of(rows)
    }
}

impl InverseValue for Exists {
    type Value<Row: Send + Sync + 'static> = bool;

    fn of<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> bool {
        !rows.is_empty()
    }
}

impl<M: Document, N, T: Document, K> Inverse<M, N, T, K> {
    /// The relation with this metadata; generated code calls it.
    #[doc(hidden)]
    pub fn new(meta: &'static InverseMeta, place: Path) -> Self {
        Self {
            meta,
            place,
            search: None,
            branches: (),
            of: PhantomData,
        }
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// The metadata, for callers that read no documents on the other side.
    ///
    /// # Errors
    ///
    /// A filter, an order or a limit would be ignored.
    pub(super) fn alone(&self) -> Result<&'static InverseMeta> {
        if self.search.is_none() {
            return Ok(self.meta);
        }
        let message = "a filter, an order or a limit of a relation is for joins: name the relation alone here";
        Err(Error::usage(message).with_path(self.meta.name))
    }

    /// Reads the documents as `P`; MongoDB returns only its fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Deserialize, Projection)]
    /// #[odm(of = Book)]
    /// struct Titled { title: String }
    ///
    /// let rows = authors.find_all().join(|a| a.books.select::<Titled>()).all().await?;
    /// assert_eq!(rows[1].books()[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P>(mut self) -> Inverse<M, N, T, K, P>
    where
        P: Projection<Of = T> + Send + Sync + 'static,
    {
        let Search { ends, scope } = self.search();
        scope.select::<P>(&[ends.by.as_str()]);
        self.with(|()| ())
    }

    /// Counts the documents of each row instead of reading them, at most as many as the limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.filter(|b| b.year.gt(1815)).count()).all().await?;
    /// assert_eq!((*rows[0].books(), *rows[1].books()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn count(self) -> Counted<M, N, T> {
        Counted::new(self.into_parts().0)
    }

    /// Finds out for each row whether there is a document, without reading it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.filter(|b| b.year.gt(1900)).exists()).all().await?;
    /// assert_eq!((*rows[0].books(), *rows[1].books()), (false, true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn exists(mut self) -> Inverse<M, N, T, Exists, IgnoredAny> {
        let Search { ends, scope } = self.search();
        scope.limit = Some(1);
        scope.project(doc! {ends.by.as_str(): 1});
        self.with(|()| ())
    }
}

impl<M: Document, N, T: Document, K, D, J> Inverse<M, N, T, K, D, J> {
    /// Joins only the documents that match this, too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let late = authors.find_all().join(|a| a.books.filter(|b| b.year.gt(1815))).all().await?;
    /// assert_eq!((late[0].books().len(), late[1].books().len()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<T>) -> Self {
        self.search().scope.filter::<T>(condition);
        self
    }

    /// Sorts the documents of each row.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.sort(|b| b.year.desc())).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort(mut self, sort: impl SortFn<T>) -> Self {
        self.search().scope.sort::<T>(sort);
        self
    }

    /// Joins at most this many documents to each row, the first of their order; 0 is no limit.
    ///
    /// For one row this is a find with a limit. For several it is one pipeline on the collection of the rows, which
    /// looks up the documents of each by the index of the relation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.sort(|b| b.year.desc()).limit(1)).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// assert_eq!(rows[0].books().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(mut self, limit: u32) -> Self {
        self.search().scope.limit = (limit > 0).then_some(limit);
        self
    }

    /// Joins a relation of the documents on the other side to them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.join(|b| b.author)).all().await?;
    /// let book = &rows[1].books()[0];
    /// assert_eq!(book.author().found().map(|author| author.id), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<T>>(
        self,
        relation: impl FnOnce(<T as Embedded>::Fields<T>) -> B,
    ) -> Inverse<M, N, T, K, D, Also<J, B::Branch>> {
        self.with(|branches| also(branches, relation))
    }

    /// The same documents, with other branches and types.
    fn with<K2, D2, J2>(self, branches: impl FnOnce(J) -> J2) -> Inverse<M, N, T, K2, D2, J2> {
        Inverse {
            meta: self.meta,
            place: self.place,
            search: self.search,
            branches: branches(self.branches),
            of: PhantomData,
        }
    }

    fn search(&mut self) -> &mut Search {
        let meta = self.meta;
        self.search
            .get_or_insert_with(|| Box::new(Search::of::<M, T>(meta)))
    }

    /// What to read, and the joins of the documents.
    pub(super) fn into_parts(mut self) -> (Search, J) {
        let search = self.search.take();
        let search = search.map_or_else(|| Search::of::<M, T>(self.meta), |search| *search);
        (search, self.branches)
    }
}

impl Search {
    fn of<M: Document, T: Document>(meta: &InverseMeta) -> Self {
        let mut scope = Scope::new(T::model());
        let ends = Ends::of::<M, T>(meta).unwrap_or_else(|error| {
            scope.fail(error);
            Ends::default()
        });
        Self { ends, scope }
    }
}

impl Ends {
    pub(super) fn of<M: Document, T: Document>(meta: &InverseMeta) -> Result<Self> {
        let by = name::resolve(T::meta(), meta.by)?;
        Ok(Self {
            key: StoredPath::through_arrays(&name::resolve(M::meta(), meta.key)?.path),
            by: StoredPath::through_arrays(&by.path),
            through_array: by.through_array,
        })
    }
}

impl<M, N, T, K, D, J: fmt::Debug> fmt::Debug for Inverse<M, N, T, K, D, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inverse")
            .field("name", &self.meta.name)
            .field("search", &self.search)
            .field("branches", &self.branches)
            .finish_non_exhaustive()
    }
}
