//! The way around the typed builders, for where the caller says raw.

use bson::{Bson, Document};

use super::filter::Filter;
use super::node::Node;
use super::sort::Sort;

/// What [`raw`] can make of a document: a [`Filter`], a [`Sort`], or an update.
pub trait FromRaw {
    /// Takes the document as it is.
    fn from_raw(document: Document) -> Self;
}

/// A filter, a sort or an update out of a document that is sent as it is written.
///
/// Nothing is checked against the model; strings in the document can be operators. Where the compiler
/// can't tell which of them is meant, as on the left of an `&`, write [`Filter::raw`] or its like.
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
    /// The same as [`raw`], which can stand on the left of `&` and `|`.
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
