//! [`Parent`]: the id of the parent.

use std::fmt;
use std::marker::PhantomData;

use bson::Bson;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::tree::RootParent;
use crate::model::{Contents, Document, FieldType, Shape, TypeMeta};
use crate::query::IntoValue;
use crate::query::scalars::field_type;
use crate::types::Ref;

/// The parent of a node: its id, or `null` at a root. `Parent<Category, ZeroRoot>` is `0` at a root.
///
/// The operations of a tree write the field. A document to insert has `Parent::default()`.
pub struct Parent<T: Document, R: Root = NullRoot> {
    id: Option<T::Id>,
    of: PhantomData<fn() -> (T, R)>,
}

/// What a [`Parent`] holds at a root: [`NullRoot`] or [`ZeroRoot`].
pub trait Root: 'static {
    /// The stored value.
    const VALUE: RootParent;
}

/// A root has no parent: `null`.
#[derive(Debug, Clone, Copy)]
pub enum NullRoot {}

/// The parent of a root is `0`, which is the id of no node.
#[derive(Debug, Clone, Copy)]
pub enum ZeroRoot {}

impl Root for NullRoot {
    const VALUE: RootParent = RootParent::Null;
}

impl Root for ZeroRoot {
    const VALUE: RootParent = RootParent::Zero;
}

impl<T: Document, R: Root> Parent<T, R> {
    fn new(id: Option<T::Id>) -> Self {
        Self {
            id,
            of: PhantomData,
        }
    }

    /// The id of the parent; `None` at a root.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(parent_references))]
    /// # struct Category { #[serde(rename = "_id")] id: String, parent: Parent<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let tree = Db::memory().tree::<Category>();
    /// # let new = |id: &str| Category { id: id.to_owned(), parent: Parent::default() };
    /// let books = tree.insert(new("Books"), Position::root()).await?.node;
    /// let fiction = tree.insert(new("Fiction"), Position::child_of(&books)).await?.node;
    /// assert_eq!(fiction.parent.id(), Some(&books.id));
    /// assert_eq!(books.parent.id(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> Option<&T::Id> {
        self.id.as_ref()
    }

    /// Whether the node is a root.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(parent_references))]
    /// # struct Category { #[serde(rename = "_id")] id: String, parent: Parent<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let tree = Db::memory().tree::<Category>();
    /// # let new = |id: &str| Category { id: id.to_owned(), parent: Parent::default() };
    /// let books = tree.insert(new("Books"), Position::root()).await?.node;
    /// let fiction = tree.insert(new("Fiction"), Position::child_of(&books)).await?.node;
    /// assert!(books.parent.is_root() && !fiction.parent.is_root());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_root(&self) -> bool {
        self.id.is_none()
    }
}

impl<T: Document, R: Root> Default for Parent<T, R> {
    /// The parent of a root.
    fn default() -> Self {
        Self::new(None)
    }
}

impl<T: Document, R: Root> Clone for Parent<T, R> {
    fn clone(&self) -> Self {
        Self::new(self.id.clone())
    }
}

impl<T: Document<Id: PartialEq>, R: Root> PartialEq for Parent<T, R> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T: Document<Id: Eq>, R: Root> Eq for Parent<T, R> {}

impl<T: Document<Id: fmt::Debug>, R: Root> fmt::Debug for Parent<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parent").field(&self.id).finish()
    }
}

impl<T: Document, R: Root> Serialize for Parent<T, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.id, R::VALUE) {
            (Some(id), _) => id.serialize(serializer),
            (None, RootParent::Null) => serializer.serialize_none(),
            (None, RootParent::Zero) => serializer.serialize_i32(0),
        }
    }
}

impl<'de, T: Document, R: Root> Deserialize<'de> for Parent<T, R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if R::VALUE == RootParent::Null {
            return Option::deserialize(deserializer).map(Self::new);
        }
        let stored = Bson::deserialize(deserializer)?;
        if matches!(stored, Bson::Int32(0) | Bson::Int64(0)) || stored == Bson::Double(0.0) {
            return Ok(Self::default());
        }
        let id = bson::deserialize_from_bson(stored).map_err(D::Error::custom)?;
        Ok(Self::new(Some(id)))
    }
}

/// The stored type: the id of a document, and what a root has.
const fn stored<T: Document>(root: RootParent) -> TypeMeta {
    match root {
        RootParent::Null => TypeMeta::of(Shape::Reference {
            to: T::model,
            id: &<T::Id as FieldType>::TYPE,
        })
        .nullable()
        .holding(Contents::NONE),
        RootParent::Zero => TypeMeta::ANY,
    }
}

field_type!(
    [T: Document, R: Root] Parent<T, R>,
    stored::<T>(R::VALUE),
    |parent| match parent.id() {
        Some(id) => T::Id::stored(id),
        None => Some(R::VALUE.value()),
    }
);

#[diagnostic::do_not_recommend]
impl<T: Document, R: Root> IntoValue<Parent<T, R>> for &T {
    fn into_value(self) -> Parent<T, R> {
        Parent::new(Some(self.id().clone()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Document, R: Root> IntoValue<Parent<T, R>> for Ref<T> {
    fn into_value(self) -> Parent<T, R> {
        Parent::new(Some(self.into_id()))
    }
}
