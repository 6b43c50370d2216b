//! Raw filters, sorts and updates, which bypass the typed builders.

use bson::{Bson, Document};

use super::filter::Filter;
use super::node::Node;
use super::sort::Sort;

/// A type that [`raw`] can make from a document: a [`Filter`], a [`Sort`], or an update.
pub trait FromRaw {
    /// Takes the document as it is.
    fn from_raw(document: Document) -> Self;
}

/// Makes a filter, a sort or an update from a document, which is sent as it is written.
///
/// Nothing is checked against the model, and strings in the document can be operators. If the compiler can't
/// infer the type, as on the left of `&`, write [`Filter::raw`] or `Update::raw`.
///
/// A verb takes a closure: `find(|_| raw(doc! {…}))`. Of `find(raw(doc! {…}))` rustc says only that it can't infer
/// the type `R`.
///
/// ```
/// use bson::doc;
/// use odm::query::{Filter, raw};
///
/// struct Book;
/// let filter: Filter<Book> = raw(doc! {"$expr": {"$gt": ["$available", "$out"]}});
/// assert_eq!(
///     filter.to_document()?,
///     doc! {"$expr": {"$gt": ["$available", "$out"]}},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
pub fn raw<R: FromRaw>(document: Document) -> R {
    R::from_raw(document)
}

impl<M> Filter<M> {
    /// Like [`raw`], with a known type, so that it can stand on the left of `&` and `|`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, year: i32 }
    /// let texts = Filter::<Book>::raw(doc! {"title": {"$type": "string"}});
    /// let filter = texts & fields::<Book>().year.lt(1900);
    /// let expected = doc! {"title": {"$type": "string"}, "year": {"$lt": 1900}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn raw(document: Document) -> Self {
        raw(document)
    }
}

impl<M> FromRaw for Filter<M> {
    fn from_raw(document: Document) -> Self {
        Self::from_node(Ok(if document.is_empty() {
            Node::All
        } else {
            Node::Raw(document)
        }))
    }
}

impl<M> FromRaw for Sort<M> {
    fn from_raw(document: Document) -> Self {
        Self::from_keys(document.into_iter().collect::<Vec<(String, Bson)>>())
    }
}
