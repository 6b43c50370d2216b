//! [`Ref`]: the id of a document of another collection.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Id;
use crate::model::{Document, FieldType, RefTarget, Shape, TypeMeta};
use crate::query::IntoValue;
use crate::query::scalars::field_type;

/// The id of a document of `T`, stored as that id and nothing else.
///
/// It never loads the document by itself: `.join` on a find resolves the references of all rows with one
/// query.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "publishers")]
/// struct Publisher {
///     #[serde(rename = "_id")]
///     id: String,
/// }
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     publisher: Ref<Publisher>,
/// }
///
/// let publisher = Publisher { id: "oreilly".to_owned() };
/// let book = Book { id: 1, publisher: Ref::to(&publisher) };
/// assert_eq!(book.publisher, Ref::from("oreilly"));
/// assert_eq!(book.publisher.id(), "oreilly");
///
/// let filter = fields::<Book>().publisher.eq(&publisher);
/// assert_eq!(filter.to_document()?, doc! {"publisher": "oreilly"});
/// # Ok::<(), odm::Error>(())
/// ```
pub struct Ref<T: RefTarget> {
    id: T::TargetId,
    // Last, so that the layout of a struct with a reference does not depend on `T: RefTarget`. Otherwise the
    // compiler would report a `T` that is no target at every use of the struct.
    to: PhantomData<fn() -> T>,
}

impl<T: Document> Ref<T> {
    /// A reference to `document`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let austen = authors.get(&1).await?.ok_or("no author")?;
    /// let title = "Sanditon".to_owned();
    /// books.insert_one(&Book { id: 4, author: Ref::to(&austen), title, year: 1817 }).await?;
    /// assert_eq!(books.find(|b| b.author.eq(&austen)).count().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn to(document: &T) -> Self {
        Self::from(document.id().clone())
    }

    /// A reference to the document with this id: an owned one, a borrowed one, or a `&str` for a `String`. The document need
    /// not exist.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let nobody = Ref::<Author>::from(9);
    /// assert_eq!(authors.get(nobody.id()).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from(id: impl IntoValue<T::Id>) -> Self {
        Self {
            id: id.into_value(),
            to: PhantomData,
        }
    }

    /// The id of the document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let emma = books.get(&1).await?.ok_or("no book")?;
    /// let author = authors.get(emma.author.id()).await?;
    /// assert_eq!(author.map(|author| author.name), Some("Austen".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> &T::Id {
        &self.id
    }

    /// The id of the document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let emma = books.get(&1).await?.ok_or("no book")?;
    /// let author: i32 = emma.author.into_id();
    /// assert_eq!(author, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_id(self) -> T::Id {
        self.id
    }
}

// Implemented by hand, because derives would put bounds on `T` that only its id needs.
impl<T: RefTarget<TargetId: Clone>> Clone for Ref<T> {
    fn clone(&self) -> Self {
        Self {
            id: self.id.clone(),
            to: PhantomData,
        }
    }
}

impl<T: RefTarget<TargetId: Copy>> Copy for Ref<T> {}

impl<T: RefTarget<TargetId: PartialEq>> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T: RefTarget<TargetId: Eq>> Eq for Ref<T> {}

impl<T: RefTarget<TargetId: PartialOrd>> PartialOrd for Ref<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.id.partial_cmp(&other.id)
    }
}

impl<T: RefTarget<TargetId: Ord>> Ord for Ref<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(&other.id)
    }
}

impl<T: RefTarget<TargetId: Hash>> Hash for Ref<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<T: RefTarget<TargetId: fmt::Debug>> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.id).finish()
    }
}

impl<T: RefTarget<TargetId: fmt::Display>> fmt::Display for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.id, f)
    }
}

impl<T: RefTarget<TargetId: Serialize>> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl<'de, T: RefTarget<TargetId: Deserialize<'de>>> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = T::TargetId::deserialize(deserializer)?;
        Ok(Self {
            id,
            to: PhantomData,
        })
    }
}

/// The declared type of a field that refers to documents of `M`.
#[diagnostic::on_unimplemented(
    message = "this field, declared as `{Self}`, does not refer to `{M}`",
    label = "the relation needs a field declared as `Ref<{M}>`",
    note = "name in `by` the field of the other model that is a `Ref<{M}>`, an `Option` or a `Vec` of it"
)]
pub trait RefersTo<M> {}

impl<M: Document> RefersTo<M> for Ref<M> {}
impl<M: Document> RefersTo<M> for Option<Ref<M>> {}
impl<M: Document> RefersTo<M> for Vec<Ref<M>> {}

field_type!(
    [T: Document] Ref<T>,
    TypeMeta::of(Shape::Reference { to: T::model, id: &<T::Id as FieldType>::TYPE }),
    |reference| T::Id::stored(reference.id())
);

impl<T: Document<Id = Id<T>>> IntoValue<Option<Ref<T>>> for Id<T> {
    fn into_value(self) -> Option<Ref<T>> {
        Some(Ref::from(self))
    }
}

impl<T: Document> IntoValue<Ref<T>> for &T {
    fn into_value(self) -> Ref<T> {
        Ref::to(self)
    }
}

impl<T: Document> IntoValue<Option<Ref<T>>> for &T {
    fn into_value(self) -> Option<Ref<T>> {
        Some(Ref::to(self))
    }
}

impl<T: Document<Id = Id<T>>> IntoValue<Ref<T>> for Id<T> {
    fn into_value(self) -> Ref<T> {
        Ref::from(self)
    }
}
