//! Sort orders.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document, doc};

use super::deferred::Deferred;
use super::field::Field;
use super::operators::is_of_db_ref;
use crate::error::Result;
use crate::model::Embedded;

/// A sort order of documents of the model `M`: a list of keys.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     year: i32,
///     title: String,
/// }
///
/// let book = fields::<Book>();
/// let sort = book.year.desc().then(book.title.asc());
/// assert_eq!(sort.to_document()?, doc! {"year": -1, "title": 1});
/// # Ok::<(), odm::Error>(())
/// ```
#[must_use = "a sort does nothing until it is given to a query"]
pub struct Sort<M> {
    keys: Vec<(String, Bson)>,
    of: PhantomData<fn() -> M>,
}

/// A closure that makes a [`Sort`] of the typed fields of `M`: `|book| book.year.desc()`.
///
/// Every closure and function of that signature is one.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::Sort;
/// use odm::query::{SortFn, fields};
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     year: i32,
///     title: String,
/// }
///
/// fn by_title_at_last(order: impl SortFn<Book>) -> Sort<Book> {
///     order(fields::<Book>()).then(fields::<Book>().title.asc())
/// }
///
/// let sort = by_title_at_last(|book| book.year.desc());
/// assert_eq!(sort.to_document()?, doc! {"year": -1, "title": 1});
/// # Ok::<(), odm::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sort order of `{M}`",
    label = "write a closure, such as `|b| b.title.asc()`",
    note = "an order that exists already is given as `|_| sort`, and one written by hand as `|_| raw(doc! {{…}})`"
)]
pub trait SortFn<M: Embedded>: FnOnce(<M as Embedded>::Fields<M>) -> Sort<M> {}

#[diagnostic::do_not_recommend]
impl<M: Embedded, F: FnOnce(<M as Embedded>::Fields<M>) -> Sort<M>> SortFn<M> for F {}

impl<M> Sort<M> {
    pub(crate) fn from_keys(keys: Vec<(String, Bson)>) -> Self {
        Self {
            keys,
            of: PhantomData,
        }
    }

    /// The most relevant documents of a [text search](super::Filter::text) first: `{score: {$meta: "textScore"}}`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::Sort;
    ///
    /// struct Article;
    /// let sort = Sort::<Article>::by_text_score();
    /// assert_eq!(sort.to_document()?, doc! {"score": {"$meta": "textScore"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn by_text_score() -> Self {
        let score = Bson::Document(doc! {"$meta": "textScore"});
        Self::from_keys(vec![("score".to_owned(), score)])
    }

    /// Sorts by this order, and documents that are equal in it by `next`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32, title: String }
    /// let book = fields::<Book>();
    /// let sort = book.year.desc().then(book.title.asc());
    /// assert_eq!(sort.to_document()?, doc! {"year": -1, "title": 1});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn then(mut self, next: Self) -> Self {
        self.keys.extend(next.keys);
        self
    }

    /// Sorts by these keys, the first one first: the same as [`then`](Self::then) between them.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::query::{Sort, fields};
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32, title: String }
    /// let book = fields::<Book>();
    /// let sort = Sort::by([book.year.desc(), book.title.asc()]);
    /// assert_eq!(sort.to_document()?, doc! {"year": -1, "title": 1});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn by(orders: impl IntoIterator<Item = Self>) -> Self {
        Self::from_keys(orders.into_iter().flat_map(|order| order.keys).collect())
    }

    /// Returns the document that is sent.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, year: i32 }
    /// let book = fields::<Book>();
    /// let sort = book.year.desc().then(book.title.asc());
    /// assert_eq!(sort.to_document()?, doc! {"year": -1, "title": 1});
    /// assert!(book.year.desc().then(book.year.asc()).to_document().is_err());
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Two keys sort by the same field.
    pub fn to_document(&self) -> Result<Document> {
        sort_document(&self.keys).map_err(|error| error.to_error())
    }

    pub(crate) fn into_document(self) -> Result<Document, Deferred> {
        sort_document(&self.keys)
    }

    /// The value of `$sort` in a `$push`: a direction for scalars, else a document.
    pub(crate) fn to_element_order(&self) -> Result<Bson, Deferred> {
        match self.keys.as_slice() {
            [(path, direction)] if path.is_empty() => Ok(direction.clone()),
            keys => sort_document(keys).map(Bson::Document),
        }
    }
}

fn sort_document(keys: &[(String, Bson)]) -> Result<Document, Deferred> {
    let mut document = Document::new();
    for (path, direction) in keys {
        if path.is_empty() {
            return Err(Deferred::usage(
                "",
                "a sort by the element itself can't have another key: leave the others out",
            ));
        }
        let stands_in_updates = |segment: &str| segment.starts_with('$') && !is_of_db_ref(segment);
        if path.split('.').any(stands_in_updates) {
            return Err(Deferred::usage(
                path,
                "documents can't be sorted by `$`, `$[]` or `$[name]`: those are for updates",
            ));
        }
        if document.insert(path.clone(), direction.clone()).is_some() {
            return Err(Deferred::usage(
                path,
                "the sort names this field twice: leave one out",
            ));
        }
    }
    Ok(document)
}

impl<M, T, E> Field<M, T, E> {
    /// Smallest first: `{field: 1}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.asc().to_document()?, doc! {"year": 1});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn asc(&self) -> Sort<M> {
        Sort::from_keys(vec![(self.path().to_string(), Bson::Int32(1))])
    }

    /// Largest first: `{field: -1}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.desc().to_document()?, doc! {"year": -1});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn desc(&self) -> Sort<M> {
        Sort::from_keys(vec![(self.path().to_string(), Bson::Int32(-1))])
    }
}

impl<M> Clone for Sort<M> {
    fn clone(&self) -> Self {
        Self::from_keys(self.keys.clone())
    }
}

impl<M> fmt::Debug for Sort<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_document() {
            Ok(document) => write!(f, "Sort({document})"),
            Err(error) => write!(f, "Sort({error})"),
        }
    }
}
