//! The types of fields that refer to other documents.

use std::fmt;
use std::sync::Arc;

use bson::raw::RawBsonRef;

use crate::model::Document;
use crate::types::Ref;

/// The target of a reference.
pub enum Resolved<T: Document> {
    /// The document; rows that refer to the same one share it.
    Found(Arc<T>),
    /// There is no document with this id.
    Dangling(T::Id),
    /// The row holds no reference: on the way to it an `Option` is `None`, an enum is another variant,
    /// or a map lacks the key.
    Absent,
}

impl<T: Document> Resolved<T> {
    /// The document, unless the reference dangles or is absent.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(document) => Some(document),
            Self::Dangling(_) | Self::Absent => None,
        }
    }

    /// The id that the reference holds, if there is one.
    pub fn id(&self) -> Option<&T::Id> {
        match self {
            Self::Found(document) => Some(document.id()),
            Self::Dangling(id) => Some(id),
            Self::Absent => None,
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

impl<T: Document> Clone for Resolved<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Found(document) => Self::Found(Arc::clone(document)),
            Self::Dangling(id) => Self::Dangling(id.clone()),
            Self::Absent => Self::Absent,
        }
    }
}

impl<T: Document<Id: PartialEq> + PartialEq> PartialEq for Resolved<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Found(left), Self::Found(right)) => left == right,
            (Self::Dangling(left), Self::Dangling(right)) => left == right,
            (Self::Absent, Self::Absent) => true,
            _ => false,
        }
    }
}

impl<T: Document<Id: fmt::Debug> + fmt::Debug> fmt::Debug for Resolved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(document) => f.debug_tuple("Found").field(document).finish(),
            Self::Dangling(id) => f.debug_tuple("Dangling").field(id).finish(),
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
pub trait Reference: sealed::Sealed {
    /// The model that it refers to.
    type Target: Document;

    /// What a join puts into a row: one [`Resolved`], an `Option` or a `Vec` of it.
    type Resolved: Send;

    /// The ids in the stored value of the field; `None` if the value can't belong to such a field. A row
    /// without the field has no ids.
    #[doc(hidden)]
    fn ids(stored: Option<RawBsonRef<'_>>) -> Option<Vec<RawBsonRef<'_>>>;

    /// Makes the value for a row from the targets of its ids, in their order.
    #[doc(hidden)]
    fn resolved(targets: Vec<Resolved<Self::Target>>) -> Self::Resolved;
}

mod sealed {
    pub trait Sealed {}
    impl<T: crate::model::Document> Sealed for crate::types::Ref<T> {}
    impl<T: crate::model::Document> Sealed for Option<crate::types::Ref<T>> {}
    impl<T: crate::model::Document> Sealed for Vec<crate::types::Ref<T>> {}
}

fn one(stored: RawBsonRef<'_>) -> Option<Vec<RawBsonRef<'_>>> {
    // An `_id` is anything but an array.
    (!matches!(stored, RawBsonRef::Array(_))).then(|| vec![stored])
}

impl<T: Document> Reference for Ref<T> {
    type Target = T;
    type Resolved = Resolved<T>;

    fn ids(stored: Option<RawBsonRef<'_>>) -> Option<Vec<RawBsonRef<'_>>> {
        match stored {
            None => Some(Vec::new()),
            Some(stored) => one(stored),
        }
    }

    fn resolved(mut targets: Vec<Resolved<T>>) -> Resolved<T> {
        targets.pop().unwrap_or(Resolved::Absent)
    }
}

impl<T: Document> Reference for Option<Ref<T>> {
    type Target = T;
    type Resolved = Option<Resolved<T>>;

    fn ids(stored: Option<RawBsonRef<'_>>) -> Option<Vec<RawBsonRef<'_>>> {
        match stored {
            None | Some(RawBsonRef::Null) => Some(Vec::new()),
            Some(stored) => one(stored),
        }
    }

    fn resolved(mut targets: Vec<Resolved<T>>) -> Option<Resolved<T>> {
        targets.pop()
    }
}

impl<T: Document> Reference for Vec<Ref<T>> {
    type Target = T;
    type Resolved = Vec<Resolved<T>>;

    fn ids(stored: Option<RawBsonRef<'_>>) -> Option<Vec<RawBsonRef<'_>>> {
        match stored {
            None => Some(Vec::new()),
            Some(RawBsonRef::Array(ids)) => ids.into_iter().map(Result::ok).collect(),
            Some(_) => None,
        }
    }

    fn resolved(targets: Vec<Resolved<T>>) -> Vec<Resolved<T>> {
        targets
    }
}
