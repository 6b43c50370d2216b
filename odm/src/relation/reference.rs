//! Fields that refer to other documents, and what they lead to.

use std::fmt;
use std::sync::Arc;

use bson::Bson;
use bson::raw::RawBsonRef;
use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::model::{Document, Path, name};
use crate::query::typing::{Key, Relation, Tagged};
use crate::query::{BySerde, Decode};
use crate::types::Ref;

/// The target of a reference: a document, or the row that a join made of it.
///
/// `B` says which field of the target the reference stores: by default its id ([`ById`]).
pub enum Resolved<T: Document, Row = T, B: KeyOf<T> = ById> {
    /// The document; rows that refer to the same one share it.
    Found(Arc<Row>),
    /// There is no document with this id.
    Dangling(B::Key),
    /// No document with this id matches the filter of the join.
    Excluded(B::Key),
    /// The row holds no reference: on the way to it an `Option` is `None`, an enum is another variant,
    /// or a map lacks the key.
    Absent,
}

/// The field of `T` that a reference stores.
pub trait KeyOf<T>: 'static {
    /// The type of the field.
    type Key: Clone + Send + Sync + 'static;

    /// Reads a stored key.
    #[doc(hidden)]
    fn decode(stored: Bson) -> std::result::Result<Self::Key, bson::error::Error>;

    /// The stored path of the field.
    #[doc(hidden)]
    fn path() -> Result<Path>;
}

/// The reference stores the id: `Ref<T>`.
#[derive(Debug)]
pub enum ById {}

impl<T: Document> KeyOf<T> for ById {
    type Key = T::Id;

    fn decode(stored: Bson) -> std::result::Result<T::Id, bson::error::Error> {
        BySerde::decode(stored)
    }

    fn path() -> Result<Path> {
        Ok(Path::root().child("_id"))
    }
}

/// A field that says `refers_to`: it stores a unique field of another model. The derive implements it for the name of the
/// relation.
pub trait KeyReference: 'static {
    /// The model that the field refers to.
    type Target: Document;
    /// The type of one key.
    type Key: Clone + Send + Sync + 'static;
    /// How many keys the field holds.
    type Arity: ReferenceArity;
    /// The Rust names of the unique field.
    const BY: &'static [&'static str];

    /// Reads a stored key, as the deserializer of the field does.
    #[doc(hidden)]
    fn decode(stored: Bson) -> std::result::Result<Self::Key, bson::error::Error>;
}

impl<N: KeyReference<Target = T>, T: Document> KeyOf<T> for Key<N> {
    type Key = N::Key;

    fn decode(stored: Bson) -> std::result::Result<N::Key, bson::error::Error> {
        N::decode(stored)
    }

    fn path() -> Result<Path> {
        Ok(name::resolve(T::meta(), N::BY)?.path)
    }
}

impl<T: Document, Row, B: KeyOf<T>> Resolved<T, Row, B> {
    /// The document, unless the reference leads to none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).all().await?;
    /// let author = rows[2].author().found().ok_or("no author")?;
    /// assert_eq!((author.name.as_str(), author.born), ("Joyce", 1882));
    /// # Ok(())
    /// # }
    /// ```
    pub fn found(&self) -> Option<&Row> {
        match self {
            Self::Found(row) => Some(row),
            Self::Dangling(_) | Self::Excluded(_) | Self::Absent => None,
        }
    }

    /// The id of a document that was not found.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let lost = Book { id: 4, author: Ref::from(9), title: "Lost".to_owned(), year: 1900 };
    /// books.insert_one(lost).await?;
    /// let rows = books.find(|b| b.id.eq(4)).join(|b| b.author).all().await?;
    ///
    /// assert_eq!(rows[0].author().missing(), Some(&9));
    /// # Ok(())
    /// # }
    /// ```
    pub fn missing(&self) -> Option<&B::Key> {
        match self {
            Self::Dangling(id) | Self::Excluded(id) => Some(id),
            Self::Found(_) | Self::Absent => None,
        }
    }

    /// Whether the reference points to a missing document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let lost = Book { id: 4, author: Ref::from(9), title: "Lost".to_owned(), year: 1900 };
    /// books.insert_one(lost).await?;
    /// let rows = books.find(|b| b.id.eq(4)).join(|b| b.author).all().await?;
    ///
    /// assert!(rows[0].author().is_dangling());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_dangling(&self) -> bool {
        matches!(self, Self::Dangling(_))
    }

    /// Whether the row holds no reference.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "people")]
    /// # struct Person { #[serde(rename = "_id")] id: i32 }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Cover { artist: Ref<Person> }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, cover: Option<Cover> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// books.insert_one(&Book { id: 1, cover: None }).await?;
    /// let rows = books.find_all().join(|b| b.cover.artist.clone()).all().await?;
    /// assert!(rows[0].artist().is_absent());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T: Document, Row, B: KeyOf<T>> Clone for Resolved<T, Row, B> {
    fn clone(&self) -> Self {
        match self {
            Self::Found(row) => Self::Found(Arc::clone(row)),
            Self::Dangling(id) => Self::Dangling(id.clone()),
            Self::Excluded(id) => Self::Excluded(id.clone()),
            Self::Absent => Self::Absent,
        }
    }
}

impl<T: Document, Row: PartialEq, B: KeyOf<T, Key: PartialEq>> PartialEq for Resolved<T, Row, B> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Found(left), Self::Found(right)) => left == right,
            (Self::Dangling(left), Self::Dangling(right))
            | (Self::Excluded(left), Self::Excluded(right)) => left == right,
            (Self::Absent, Self::Absent) => true,
            _ => false,
        }
    }
}

impl<T: Document, Row: fmt::Debug, B: KeyOf<T, Key: fmt::Debug>> fmt::Debug
    for Resolved<T, Row, B>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(row) => f.debug_tuple("Found").field(row).finish(),
            Self::Dangling(id) => f.debug_tuple("Dangling").field(id).finish(),
            Self::Excluded(id) => f.debug_tuple("Excluded").field(id).finish(),
            Self::Absent => f.write_str("Absent"),
        }
    }
}

/// The document, or `null` where none was found.
impl<T: Document, Row: Serialize, B: KeyOf<T>> Serialize for Resolved<T, Row, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.found().serialize(serializer)
    }
}

/// A field that refers to other documents: `Ref<T>`, an `Option` or a `Vec` of it, or one that says `refers_to`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` refers to no other collection",
    label = "nothing to join",
    note = "a reference is declared as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`"
)]
pub trait Reference: sealed::Sealed + 'static {
    /// The model that it refers to.
    type Target: Document;

    /// The field of the target that it stores.
    type By: KeyOf<Self::Target>;

    /// How many documents it refers to.
    type Arity: ReferenceArity;

    /// Where one stored value leads; by default, the value is the key.
    #[doc(hidden)]
    fn pointer(stored: RawBsonRef<'_>) -> Pointer<'_> {
        Pointer::To {
            key: stored,
            database: None,
        }
    }
}

/// Where a stored reference leads.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Pointer<'a> {
    /// To the document with this key.
    To {
        /// The key.
        key: RawBsonRef<'a>,
        /// The database, if it is another one than that of the row.
        database: Option<&'a str>,
    },
    /// To another collection: the field holds another variant of an enum.
    Elsewhere,
    /// The value is not a reference.
    Malformed,
}

/// The reference that a field stores, by its declared type `V` and its encoder.
#[diagnostic::on_unimplemented(
    message = "this field can't be read as a reference: its type is `{V}`",
    label = "can't be joined",
    note = "a reference is declared as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`, without a serializer of its own, or says `#[odm(refers_to(Model, by = field))]`",
    note = "write `Vec<Ref<T>>` with `#[serde(default)]` in place of `Option<Vec<Ref<T>>>`, and a variant with a named field, `Taken {{ by: Ref<T> }}`, in place of `Taken(Ref<T>)`"
)]
pub trait RefersBy<V> {
    /// The name by which rows have what the field refers to.
    type Name: 'static;
    /// The reference.
    type Reference: Reference;
}

impl<R: Reference, N: 'static> RefersBy<R> for Tagged<Relation<N>> {
    type Name = N;
    type Reference = R;
}

impl<V, N: KeyReference, E> RefersBy<V> for Tagged<Key<N>, E> {
    type Name = N;
    type Reference = Key<N>;
}

/// A reference that stores a key and nothing else, so that an index of the field finds the rows by keys.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can be joined, and rows can't be filtered or sorted by what it leads to",
    label = "stores DBRefs, whose ids no index of the field finds",
    note = "declare it as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`; of a DBRef, find the ids first: `row.field.id.in_(ids)`"
)]
pub trait StoresKey {}

impl<T: Document> StoresKey for Ref<T> {}
impl<T: Document> StoresKey for Option<Ref<T>> {}
impl<T: Document> StoresKey for Vec<Ref<T>> {}
impl<N> StoresKey for Key<N> {}

/// The value that a join puts into a row for a reference.
pub(super) type Joined<R, Row> = <<R as Reference>::Arity as ReferenceArity>::Value<
    Resolved<<R as Reference>::Target, Row, <R as Reference>::By>,
>;

mod sealed {
    pub trait Sealed {}
    impl<T: crate::model::Document> Sealed for crate::types::Ref<T> {}
    impl<T: crate::model::Document> Sealed for Option<crate::types::Ref<T>> {}
    impl<T: crate::model::Document> Sealed for Vec<crate::types::Ref<T>> {}
    impl<T: crate::model::Document> Sealed for crate::types::dbref::DbRef<T> {}
    impl<T: crate::model::Document> Sealed for Option<crate::types::dbref::DbRef<T>> {}
    impl<T: crate::model::Document> Sealed for Vec<crate::types::dbref::DbRef<T>> {}
    impl<N> Sealed for crate::query::typing::Key<N> {}
}

impl<T: Document> Reference for Ref<T> {
    type Target = T;
    type By = ById;
    type Arity = OneKey;
}

impl<T: Document> Reference for Option<Ref<T>> {
    type Target = T;
    type By = ById;
    type Arity = AtMostOneKey;
}

impl<T: Document> Reference for Vec<Ref<T>> {
    type Target = T;
    type By = ById;
    type Arity = ManyKeys;
}

impl<N: KeyReference> Reference for Key<N> {
    type Target = N::Target;
    type By = Self;
    type Arity = N::Arity;
}

/// How many documents a field refers to.
pub trait ReferenceArity: 'static {
    /// What a row has: `V` for each document.
    type Value<V: Send + Sync + 'static>: Send + Sync + 'static;

    /// Whether the field is a list.
    #[doc(hidden)]
    const IS_LIST: bool;

    /// Calls `add` with each key in the stored value of the field; returns `false` if the value can't belong to such a
    /// field. A row without the field has no keys.
    #[doc(hidden)]
    fn each_key<'a>(
        stored: Option<RawBsonRef<'a>>,
        add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool>;

    /// Makes the value for a row from the targets of its keys, in their order; `absent` stands for a missing one.
    #[doc(hidden)]
    fn value<V: Send + Sync + 'static>(
        targets: impl Iterator<Item = Result<V>>,
        absent: impl FnOnce() -> V,
    ) -> Result<Self::Value<V>>;
}

/// The field refers to one document.
#[derive(Debug)]
pub enum OneKey {}

/// The field refers to one document or none.
#[derive(Debug)]
pub enum AtMostOneKey {}

/// The field is a list.
#[derive(Debug)]
pub enum ManyKeys {}

impl ReferenceArity for OneKey {
    type Value<V: Send + Sync + 'static> = V;
    const IS_LIST: bool = false;

    fn each_key<'a>(
        stored: Option<RawBsonRef<'a>>,
        mut add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool> {
        match stored {
            None => Ok(true),
            // Neither an `_id` nor a field with a unique index of its own is an array.
            Some(RawBsonRef::Array(_)) => Ok(false),
            Some(key) => add(key).map(|()| true),
        }
    }

    fn value<V: Send + Sync + 'static>(
        mut targets: impl Iterator<Item = Result<V>>,
        absent: impl FnOnce() -> V,
    ) -> Result<V> {
        targets.next().unwrap_or_else(|| Ok(absent()))
    }
}

impl ReferenceArity for AtMostOneKey {
    type Value<V: Send + Sync + 'static> = Option<V>;
    const IS_LIST: bool = false;

    fn each_key<'a>(
        stored: Option<RawBsonRef<'a>>,
        add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool> {
        match stored {
            Some(RawBsonRef::Null) => Ok(true),
            stored => OneKey::each_key(stored, add),
        }
    }

    fn value<V: Send + Sync + 'static>(
        mut targets: impl Iterator<Item = Result<V>>,
        _absent: impl FnOnce() -> V,
    ) -> Result<Option<V>> {
        targets.next().transpose()
    }
}

impl ReferenceArity for ManyKeys {
    type Value<V: Send + Sync + 'static> = Vec<V>;
    const IS_LIST: bool = true;

    fn each_key<'a>(
        stored: Option<RawBsonRef<'a>>,
        mut add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool> {
        match stored {
            None => Ok(true),
            Some(RawBsonRef::Array(keys)) => {
                for key in keys {
                    match key {
                        Ok(key) => add(key)?,
                        Err(_) => return Ok(false),
                    }
                }
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    fn value<V: Send + Sync + 'static>(
        targets: impl Iterator<Item = Result<V>>,
        _absent: impl FnOnce() -> V,
    ) -> Result<Vec<V>> {
        targets.collect()
    }
}
