//! What [`Ancestors`](super::Ancestors) and [`Children`](super::Children) share: a list of ids of nodes.

/// Declares a list of ids of documents of `T`.
macro_rules! ids {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<T: $crate::model::Document> {
            ids: Vec<T::Id>,
            of: std::marker::PhantomData<fn() -> T>,
        }

        impl<T: $crate::model::Document> $name<T> {
            fn new(ids: Vec<T::Id>) -> Self {
                Self {
                    ids,
                    of: std::marker::PhantomData,
                }
            }

            /// The ids, in their order.
            ///
            /// ```
            /// # use odm::prelude::*;
            /// # use odm::tree::prelude::*;
            /// # #[derive(Debug, Serialize, Deserialize, Document)]
            /// # #[odm(collection = "categories", tree(array_of_ancestors, children = children))]
            /// # struct Category {
            /// #     #[serde(rename = "_id")] id: String,
            /// #     ancestors: Ancestors<Category>,
            /// #     children: Children<Category>,
            /// # }
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// # let tree = Db::memory().tree::<Category>();
            /// # let new = |id: &str| Category {
            /// #     id: id.to_owned(),
            /// #     ancestors: Ancestors::default(),
            /// #     children: Children::default(),
            /// # };
            /// let books = tree.insert(new("Books"), Position::root()).await?.node;
            /// let fiction = tree.insert(new("Fiction"), Position::child_of(&books)).await?.node;
            /// assert_eq!(fiction.ancestors.ids(), ["Books"]);
            /// let books = tree.parent(&fiction).first().await?.ok_or("no parent")?;
            /// assert_eq!(books.children.ids(), ["Fiction"]);
            /// # Ok(())
            /// # }
            /// ```
            pub fn ids(&self) -> &[T::Id] {
                &self.ids
            }
        }

        impl<T: $crate::model::Document> Default for $name<T> {
            fn default() -> Self {
                Self::new(Vec::new())
            }
        }

        impl<T: $crate::model::Document> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self::new(self.ids.clone())
            }
        }

        impl<T: $crate::model::Document<Id: PartialEq>> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.ids == other.ids
            }
        }

        impl<T: $crate::model::Document<Id: Eq>> Eq for $name<T> {}

        impl<T: $crate::model::Document<Id: std::fmt::Debug>> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.ids).finish()
            }
        }

        impl<T: $crate::model::Document> serde::Serialize for $name<T> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.ids.serialize(serializer)
            }
        }

        impl<'de, T: $crate::model::Document> serde::Deserialize<'de> for $name<T> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Vec::deserialize(deserializer).map(Self::new)
            }
        }

        $crate::query::scalars::field_type!(
            [T: $crate::model::Document] $name<T>,
            super::ids::list(&super::ids::id::<T>())
        );
    };
}

pub(super) use ids;

use crate::model::{Contents, Document, FieldType, Shape, TypeMeta};

/// The stored type of the id of a node.
pub(super) const fn id<T: Document>() -> TypeMeta {
    TypeMeta::of(Shape::Reference {
        to: T::model,
        id: &<T::Id as FieldType>::TYPE,
    })
    .holding(Contents::NONE)
}

/// The stored type of a list of ids, none of them twice.
pub(super) const fn list(element: &'static TypeMeta) -> TypeMeta {
    TypeMeta::of(Shape::Array {
        element,
        len: None,
        unique: true,
    })
}
