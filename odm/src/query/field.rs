//! The typed handle of a field.

use std::fmt;
use std::marker::PhantomData;

use super::encode::BySerde;
use crate::model::{FieldType, Path};

/// A field of the model `M`, declared as `T`, whose values are encoded by `E`.
pub struct Field<M, T, E = BySerde> {
    path: Path,
    of: PhantomData<fn() -> (M, T, E)>,
}

impl<M, T, E> Field<M, T, E> {
    /// The field at `path`; generated code calls it.
    #[doc(hidden)]
    pub fn at_path(path: Path) -> Self {
        Self {
            path,
            of: PhantomData,
        }
    }

    /// The stored path.
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

/// Looks through `Option`, `Box` and sequences to the fields of what is inside: how attributes that
/// name nested fields (`index(contacts.name)`) are checked.
pub trait Descend {
    /// The fields inside.
    type Inside;

    /// The fields inside.
    fn descend(&self) -> Self::Inside;
}

impl<M, T, E> Descend for Field<M, Vec<T>, E>
where
    T: FieldType,
{
    type Inside = T::Handle<M, T>;

    fn descend(&self) -> Self::Inside {
        T::handle(self.path.clone())
    }
}
