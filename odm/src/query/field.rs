//! The typed handle of a field.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use super::encode::BySerde;
use crate::model::{FieldType, Path};

/// A field of the model `M`, declared as `T`, whose values are encoded by `E`.
///
/// Its methods make conditions, sort keys and changes. The derives make such a handle for each field of a
/// struct; handles can be cloned and kept.
///
/// ```
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Book {
///     year: i32,
/// }
///
/// let book = fields::<Book>();
/// assert_eq!(book.year.path().to_string(), "year");
/// assert_eq!(book.year.gte(1900).to_document()?, doc! {"year": {"$gte": 1900}});
/// assert_eq!(book.year.set(1922).to_document()?, doc! {"$set": {"year": 1922}});
/// # Ok::<(), odm::Error>(())
/// ```
pub struct Field<M, T, E = BySerde> {
    path: Path,
    of: PhantomData<Of<M, T, E>>,
}

/// The types of a handle, without values of them, so that handles are `Send` and `Sync`.
type Of<M, T, E> = fn() -> (M, T, E);

impl<M, T, E> Field<M, T, E> {
    /// The field at `path`; generated code calls it.
    #[doc(hidden)]
    #[inline]
    pub fn at_path(path: Path) -> Self {
        Self {
            path,
            of: PhantomData,
        }
    }

    /// The stored path.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     #[serde(rename = "publishedIn")]
    ///     year: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.path().to_string(), "publishedIn");
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl<M, T, E> Clone for Field<M, T, E> {
    fn clone(&self) -> Self {
        Self::at_path(self.path.clone())
    }
}

impl<M, T, E> fmt::Debug for Field<M, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({})", self.path)
    }
}

/// Reaches the fields inside an `Option`, a `Box` or a sequence. Generated code uses it to check attributes
/// that name nested fields (`index(contacts.name)`).
pub trait Descend {
    /// The model.
    type Model;

    /// The declared type.
    type Declared;

    /// Returns the typed fields inside.
    // The bound is on the method: rustc then reports a type without fields by the message of `Inside`.
    fn descend(&self) -> InsideOf<Self>
    where
        Self::Declared: Inside;
}

/// The typed fields inside a field.
type InsideOf<D> = <<<D as Descend>::Declared as Inside>::Inside as FieldType>::Handle<
    <D as Descend>::Model,
    <<D as Descend>::Declared as Inside>::Inside,
>;

impl<M, T, E> Descend for Field<M, T, E> {
    type Model = M;
    type Declared = T;

    fn descend(&self) -> InsideOf<Self>
    where
        T: Inside,
    {
        T::Inside::handle(self.path.clone())
    }
}

/// A type whose inner value has fields at the same path, such as `Vec<T>`.
#[diagnostic::on_unimplemented(
    message = "a field declared as `{Self}` has no fields inside",
    label = "nothing to name in here",
    note = "a path leads into derived structs and into the elements of lists; the keys of a map are data, so an index of a map is one of all its entries: `wildcard(map)`"
)]
pub trait Inside {
    /// The inner type.
    type Inside: FieldType;
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: FieldType> Inside for $pointer<T> {
            type Inside = T;
        }
    )*};
}

pointers!(Box, Arc, Rc);

macro_rules! sequences {
    ($($sequence:ty),*) => {$(
        impl<T: FieldType> Inside for $sequence {
            type Inside = T;
        }
    )*};
}

sequences!(
    Vec<T>,
    Box<[T]>,
    Arc<[T]>,
    Rc<[T]>,
    VecDeque<T>,
    BTreeSet<T>
);

impl<T: FieldType + Clone> Inside for Cow<'_, [T]> {
    type Inside = T;
}

impl<T: FieldType, S> Inside for HashSet<T, S> {
    type Inside = T;
}

impl<T: FieldType, const N: usize> Inside for [T; N] {
    type Inside = T;
}

impl<T: Inside> Inside for Option<T> {
    type Inside = T::Inside;
}
