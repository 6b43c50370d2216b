//! Fields that refer to other documents, and what they lead to.

use std::fmt;
use std::sync::Arc;

use bson::raw::RawBsonRef;

use crate::error::Result;
use crate::model::Document;
use crate::types::Ref;

/// The target of a reference: a document, or the row that a join made of it.
pub enum Resolved<T: Document, Row = T> {
    /// The document; rows that refer to the same one share it.
    Found(Arc<Row>),
    /// There is no document with this id.
    Dangling(T::Id),
    /// No document with this id matches the filter of the join.
    Excluded(T::Id),
    /// The row holds no reference: on the way to it an `Option` is `None`, an enum is another variant,
    /// or a map lacks the key.
    Absent,
}

impl<T: Document, Row> Resolved<T, Row> {
    /// The document, unless the reference leads to none.
    pub fn found(&self) -> Option<&Row> {
        match self {
            Self::Found(row) => Some(row),
            Self::Dangling(_) | Self::Excluded(_) | Self::Absent => None,
        }
    }

    /// The id of a document that was not found.
    pub fn missing(&self) -> Option<&T::Id> {
        match self {
            Self::Dangling(id) | Self::Excluded(id) => Some(id),
            Self::Found(_) | Self::Absent => None,
        }
    }

    /// Whether the reference points to a missing document.
    pub fn is_dangling(&self) -> bool {
        matches!(self, Self::Dangling(_))
    }

    /// Whether the row holds no reference.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T: Document, Row> Clone for Resolved<T, Row> {
    fn clone(&self) -> Self {
        match self {
            Self::Found(row) => Self::Found(Arc::clone(row)),
            Self::Dangling(id) => Self::Dangling(id.clone()),
            Self::Excluded(id) => Self::Excluded(id.clone()),
            Self::Absent => Self::Absent,
        }
    }
}

impl<T: Document<Id: PartialEq>, Row: PartialEq> PartialEq for Resolved<T, Row> {
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

impl<T: Document<Id: fmt::Debug>, Row: fmt::Debug> fmt::Debug for Resolved<T, Row> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(row) => f.debug_tuple("Found").field(row).finish(),
            Self::Dangling(id) => f.debug_tuple("Dangling").field(id).finish(),
            Self::Excluded(id) => f.debug_tuple("Excluded").field(id).finish(),
            Self::Absent => f.write_str("Absent"),
        }
    }
}

/// A field that refers to other documents: `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` refers to no other collection",
    label = "nothing to join",
    note = "a reference is declared as `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`"
)]
pub trait Reference: sealed::Sealed + Send + Sync + 'static {
    /// The model that it refers to.
    type Target: Document;

    /// What a join puts into a row: one [`Resolved`], an `Option` or a `Vec` of it.
    type Resolved<Row: Send + Sync + 'static>: Send + Sync + 'static;

    /// Whether the field is a list of references.
    #[doc(hidden)]
    const IS_LIST: bool = false;

    /// Calls `add` with each id in the stored value of the field; returns `false` if the value can't belong to such a
    /// field. A row without the field has no ids.
    #[doc(hidden)]
    fn each_id<'a>(
        stored: Option<RawBsonRef<'a>>,
        add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool>;

    /// Makes the value for a row from the targets of its ids, in their order.
    #[doc(hidden)]
    fn resolved<Row: Send + Sync + 'static>(
        targets: impl Iterator<Item = Result<Resolved<Self::Target, Row>>>,
    ) -> Result<Self::Resolved<Row>>;
}

mod sealed {
    pub trait Sealed {}
    impl<T: crate::model::Document> Sealed for crate::types::Ref<T> {}
    impl<T: crate::model::Document> Sealed for Option<crate::types::Ref<T>> {}
    impl<T: crate::model::Document> Sealed for Vec<crate::types::Ref<T>> {}
}

impl<T: Document> Reference for Ref<T> {
    type Target = T;
    type Resolved<Row: Send + Sync + 'static> = Resolved<T, Row>;

    fn each_id<'a>(
        stored: Option<RawBsonRef<'a>>,
        mut add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool> {
        match stored {
            None => Ok(true),
            // An `_id` is anything but an array.
            Some(RawBsonRef::Array(_)) => Ok(false),
            Some(id) => add(id).map(|()| true),
        }
    }

    fn resolved<Row: Send + Sync + 'static>(
        mut targets: impl Iterator<Item = Result<Resolved<T, Row>>>,
    ) -> Result<Resolved<T, Row>> {
        targets.next().unwrap_or(Ok(Resolved::Absent))
    }
}

impl<T: Document> Reference for Option<Ref<T>> {
    type Target = T;
    type Resolved<Row: Send + Sync + 'static> = Option<Resolved<T, Row>>;

    fn each_id<'a>(
        stored: Option<RawBsonRef<'a>>,
        add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool> {
        match stored {
            Some(RawBsonRef::Null) => Ok(true),
            stored => Ref::<T>::each_id(stored, add),
        }
    }

    fn resolved<Row: Send + Sync + 'static>(
        mut targets: impl Iterator<Item = Result<Resolved<T, Row>>>,
    ) -> Result<Option<Resolved<T, Row>>> {
        targets.next().transpose()
    }
}

impl<T: Document> Reference for Vec<Ref<T>> {
    type Target = T;
    const IS_LIST: bool = true;
    type Resolved<Row: Send + Sync + 'static> = Vec<Resolved<T, Row>>;

    fn each_id<'a>(
        stored: Option<RawBsonRef<'a>>,
        mut add: impl FnMut(RawBsonRef<'a>) -> Result<()>,
    ) -> Result<bool> {
        match stored {
            None => Ok(true),
            Some(RawBsonRef::Array(ids)) => {
                for id in ids {
                    match id {
                        Ok(id) => add(id)?,
                        Err(_) => return Ok(false),
                    }
                }
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    fn resolved<Row: Send + Sync + 'static>(
        targets: impl Iterator<Item = Result<Resolved<T, Row>>>,
    ) -> Result<Vec<Resolved<T, Row>>> {
        targets.collect()
    }
}
