//! Rows of joins: a document, and what was joined to it by name.

mod parts;
mod serialize;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

pub use self::parts::IntoParts;
pub use self::serialize::SerializeRelations;

/// A row of a join: the document, and what its relations lead to. It derefs to the document.
///
/// The relations are read by name: `row.publisher()` after `.join(|book| book.publisher)`. The methods are those of a
/// trait that the derive makes beside the model, `BookJoined` for `Book`; import it where you read rows. A relation that
/// was not joined does not compile. [`into_parts`](Joined::into_parts) takes a row apart.
///
/// The trait of an embedded type, `LineJoined` for `Line`, has methods for rows that join a relation in such a type. If the
/// document has a relation of the same name, name the trait: `LineJoined::author(&row)`.
///
/// If a relation is joined twice, or through two fields of one embedded type, say which join is meant: the last one is
/// `row.author::<First>()`, and the one before it `row.author::<Behind<First>>()`.
///
/// ```
/// use odm::prelude::*;
/// use odm::relation::typing::{Behind, First};
///
/// # #[derive(Debug, Clone, Serialize, Deserialize, Document)]
/// # #[odm(collection = "authors")]
/// # struct Author { #[serde(rename = "_id")] id: i32, name: String }
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Credit {
///     author: Ref<Author>,
/// }
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     text: Credit,
///     preface: Credit,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
/// # authors.insert_many([(1, "Austen"), (2, "Scott")].map(|(id, name)| Author { id, name: name.to_owned() })).await?;
/// # let credit = |id| Credit { author: Ref::from(id) };
/// # books.insert_one(&Book { id: 1, text: credit(1), preface: credit(2) }).await?;
/// let rows = books.find_all().join(|b| b.text.author).join(|b| b.preface.author).all().await?;
/// let last = rows[0].author::<First>().found();
/// assert_eq!(last.map(|author| author.name.as_str()), Some("Scott"));
/// let first = rows[0].author::<Behind<First>>().found();
/// assert_eq!(first.map(|author| author.name.as_str()), Some("Austen"));
/// # Ok(())
/// # }
/// ```
///
/// # As JSON
/// A row serializes as its document with the relations in it. A joined reference stands in the place of its id, under
/// the name that serde gives the field; `null` stands for a document that was not found. The other relations follow the
/// fields, under their Rust names, to which the `rename_all` of the struct applies. Around a row or a list of rows,
/// [`Plain`](crate::json::Plain) writes ids and dates as text.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (authors, books) = two_authors().await?;
/// let rows = books.find(|b| b.year.gt(1900)).join(|b| b.author).all().await?;
/// assert_eq!(
///     serde_json::to_value(&rows)?,
///     serde_json::json!([{
///         "_id": 3,
///         "author": { "_id": 2, "name": "Joyce", "born": 1882 },
///         "title": "Ulysses",
///         "year": 1922,
///     }]),
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Serializing fails where a relation would hide a field or another relation: where a relation of a subdocument has the
/// name of a field of the document, and where two relations of a row have one name.
#[derive(Clone, PartialEq)]
pub struct Joined<T, L> {
    /// The document itself.
    pub document: T,
    pub(super) joined: L,
}

impl<T, L> Joined<T, L> {
    /// What was joined; generated code reads it by name.
    #[doc(hidden)]
    pub fn joined(&self) -> &L {
        &self.joined
    }
}

impl<T, L> Deref for Joined<T, L> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.document
    }
}

impl<T: fmt::Debug, L: fmt::Debug> fmt::Debug for Joined<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined")
            .field("document", &self.document)
            .field("joined", &self.joined)
            .finish()
    }
}

/// The value of the relation that `N` names, and those of the relations joined before it.
pub struct And<N, V, Rest> {
    value: V,
    rest: Rest,
    name: PhantomData<fn() -> N>,
}

impl<N, V, Rest> And<N, V, Rest> {
    pub(super) fn new(value: V, rest: Rest) -> Self {
        Self {
            value,
            rest,
            name: PhantomData,
        }
    }
}

// Not derived: a name is neither cloned nor compared.
impl<N, V: Clone, Rest: Clone> Clone for And<N, V, Rest> {
    fn clone(&self) -> Self {
        Self::new(self.value.clone(), self.rest.clone())
    }
}

impl<N, V: PartialEq, Rest: PartialEq> PartialEq for And<N, V, Rest> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.rest == other.rest
    }
}

impl<N, V: fmt::Debug, Rest: fmt::Debug> fmt::Debug for And<N, V, Rest> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<N>();
        let name = name.rsplit("::").next().unwrap_or(name);
        write!(f, "{name}: {:?}, {:?}", self.value, self.rest)
    }
}

/// The relation stands first in a list: the join that was written last.
#[derive(Debug)]
pub enum First {}

/// The relation stands in the rest of a list: a join that was written before the last one.
#[derive(Debug)]
pub struct Behind<I>(PhantomData<I>);

/// A list of joined relations that has one named `N`, at `I`.
#[diagnostic::on_unimplemented(
    message = "the relation `{N}` was not joined",
    label = "this row has no `{N}`",
    note = "join it where the row is read: `.join(|row| row.{N})`"
)]
pub trait Has<N, I> {
    /// What was joined.
    type Value;

    /// What was joined.
    fn value(&self) -> &Self::Value;
}

impl<N, V, Rest> Has<N, First> for And<N, V, Rest> {
    type Value = V;

    fn value(&self) -> &V {
        &self.value
    }
}

impl<N, M, V, Rest: Has<N, I>, I> Has<N, Behind<I>> for And<M, V, Rest> {
    type Value = Rest::Value;

    fn value(&self) -> &Rest::Value {
        self.rest.value()
    }
}

/// A document whose rows have the relations of `M`: the model itself, or a projection of it.
pub trait RowOf<M> {}

impl<M, T: RowOf<M>> RowOf<M> for &T {}

/// The type that names a relation. The derive implements it.
pub trait RelationName {
    /// [`OfDocument`] or [`OfEmbedded`].
    type DeclaredBy;
    /// The key in a serialized row.
    const KEY: &'static str;
    /// Whether a field of the document stores the reference under this key; the relation replaces it in a serialized row.
    const IS_FIELD: bool;
}

/// A model with a relation whose name has this hash. The derive implements it, for the macros `row!` and `relation!`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no relation of this name",
    label = "not a relation of `{Self}`",
    note = "relations are fields declared as `Ref<…>`, an `Option` or a `Vec` of it, and what `has_one`, `has_many` and their kin declare; those of generic structs have no names"
)]
pub trait NamedRelation<const HASH: u64> {
    /// The type that names the relation.
    type Name;
}

/// A document declares the relation.
#[derive(Debug)]
pub enum OfDocument {}

/// An embedded type declares the relation.
#[derive(Debug)]
pub enum OfEmbedded {}

/// A list of joined relations of which an embedded type declares one.
///
/// Only rows with such a list have the methods of embedded types. So a type that nothing stores, such as the body of a
/// request, adds no second method of the same name to the rows of a document.
#[diagnostic::on_unimplemented(
    message = "no relation of an embedded type was joined",
    label = "every relation of this row is one of its document",
    note = "join it where the row is read: `.join(|row| row.field.relation)`"
)]
pub trait HasEmbeddedRelation {}

impl<N, V, Rest> HasEmbeddedRelation for And<N, V, Rest>
where
    N: RelationName,
    (N::DeclaredBy, Rest): FirstOrRest,
{
}

/// A relation of an embedded type, or those behind it with one.
pub trait FirstOrRest {}

impl<Rest> FirstOrRest for (OfEmbedded, Rest) {}
impl<Rest: HasEmbeddedRelation> FirstOrRest for (OfDocument, Rest) {}
