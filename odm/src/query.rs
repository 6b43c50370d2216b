//! Typed fields, filters, sorts and projections, which become the documents that a shell user would type.
//!
//! Start at [`Field`], whose methods make a [`Filter`] or a [`Sort`]; the methods that make updates
//! are in [`crate::update`].

pub(crate) mod array;
pub(crate) mod compare;
pub(crate) mod deferred;
pub(crate) mod elements;
pub mod encode;
pub mod field;
mod filter;
mod joined;
mod keywords;
pub mod kind;
mod map;
pub(crate) mod node;
mod number;
pub(crate) mod operators;
mod pointer;
mod raw;
mod role;
pub(crate) mod scalars;
mod sort;
pub(crate) mod text;
pub(crate) mod upserted;
mod value;

pub use self::compare::AnyNumber;
#[doc(hidden)]
pub use self::elements::{NamesFields, Unreached};
#[doc(hidden)]
pub use self::encode::Marked;
pub use self::encode::{BySerde, Decode, Encode, With, encode};
pub use self::field::Field;
pub use self::filter::{Filter, FilterFn};
pub use self::raw::{FromRaw, raw};
pub use self::sort::{Sort, SortFn};
#[doc(hidden)]
pub use self::value::FieldAsValue;
pub use self::value::IntoValue;

/// The types and traits that inference names: the encoders and roles of fields, and what the methods of fields accept.
pub mod typing {
    pub use super::array::ElementEncoder;
    pub use super::compare::IntoTypes;
    pub use super::encode::ElementOf;
    pub use super::field::{Descend, Inside};
    pub use super::keywords::KeywordsOf;
    pub use super::map::{EntryEncoder, NamesKeys};
    pub use super::number::IntoMask;
    pub use super::pointer::PointerFields;
    pub use super::role::{Key, Keywords, Recent, Relation, Tagged};
}

use crate::model::{Document, Embedded, Path};

/// Returns the typed fields of a model, for code outside of the closures that receive them.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     title: String,
///     year: i32,
/// }
///
/// let book = fields::<Book>();
/// let mut filter = book.year.gte(1900);
/// for word in ["Ulysses", "Dubliners"] {
///     filter = filter & !book.title.contains(word);
/// }
/// # assert!(filter.to_document()?.contains_key("$and"));
/// # Ok::<(), odm::Error>(())
/// ```
// Not inlined: in a call that makes both a filter and an update, the second use then runs code that is
// already in the processor's cache.
#[inline(never)]
pub fn fields<M: Embedded>() -> M::Fields<M> {
    M::fields(Path::root())
}

/// Returns the field stored as `_id`, for code that is generic over the model and can't name the field.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::id;
///
/// /// The documents with these ids, of any model.
/// async fn some<M: Document>(db: &Db, ids: &[M::Id]) -> odm::Result<Vec<M>> {
///     db.collection::<M>().find(|_| id::<M>().in_(ids)).all().await
/// }
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "books")]
/// # struct Book { #[serde(rename = "_id")] id: i32 }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// # db.collection::<Book>().insert_many([Book { id: 1 }, Book { id: 2 }]).await?;
/// # assert_eq!(some::<Book>(&db, &[2, 3]).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn id<M: Document>() -> Field<M, M::Id> {
    Field::at_path(Path::root().child("_id"))
}

#[cfg(test)]
mod tests;
