//! [`Materialized`]: the path from the root.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::tree::{PathId, SEPARATOR, path_text};
use crate::model::{BsonType, Document, TypeMeta};
use crate::query::compare::operator;
use crate::query::encode::encode_field;
use crate::query::scalars::field_type;
use crate::query::text::escape;
use crate::query::{Field, Filter, IntoValue};
use crate::types::Ref;

/// The ids of a node's ancestors in one string, the root first: `,Books,Programming,`; or `null` at a root.
///
/// The operations of a tree write the field. A document to insert has `Materialized::default()`. A tree keeps a path only if
/// the id of the model is a [`PathId`](crate::tree::PathId).
pub struct Materialized<T: Document> {
    path: Option<String>,
    of: PhantomData<fn() -> T>,
}

impl<T: Document> Materialized<T> {
    fn new(path: Option<String>) -> Self {
        Self {
            path,
            of: PhantomData,
        }
    }

    /// The stored path; `None` at a root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let nodes = tree.path(node("Languages")).all().await?;
    /// assert_eq!(nodes[0].path.as_str(), None);
    /// assert_eq!(nodes[2].path.as_str(), Some(",Books,Programming,"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The ids of the ancestors, the root first: the breadcrumbs of a node, without another read.
    ///
    /// `None` if a part of the path is not the text of an id; [`check`](crate::tree::Tree::check) reports such a path.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let languages = tree.collection().get("Languages").await?.ok_or("no node")?;
    /// assert_eq!(languages.path.ids(), Some(vec!["Books".to_owned(), "Programming".to_owned()]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn ids(&self) -> Option<Vec<T::Id>>
    where
        T::Id: PathId,
    {
        let Some(path) = self.as_str() else {
            return Some(Vec::new());
        };
        let inner = path.strip_prefix(SEPARATOR)?.strip_suffix(SEPARATOR)?;
        let id = |part| bson::deserialize_from_bson(T::Id::read(part)?).ok();
        inner.split(SEPARATOR).map(id).collect()
    }

    /// The number of ancestors: 0 at a root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let nodes = tree.path(node("Languages")).all().await?;
    /// assert_eq!((nodes[0].path.depth(), nodes[2].path.depth()), (0, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn depth(&self) -> usize {
        let separators = |path: &str| path.matches(SEPARATOR).count();
        self.as_str()
            .map_or(0, |path| separators(path).saturating_sub(1))
    }
}

impl<T: Document> Default for Materialized<T> {
    /// The path of a root.
    fn default() -> Self {
        Self::new(None)
    }
}

impl<T: Document> Clone for Materialized<T> {
    fn clone(&self) -> Self {
        Self::new(self.path.clone())
    }
}

impl<T: Document> PartialEq for Materialized<T> {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl<T: Document> Eq for Materialized<T> {}

impl<T: Document> fmt::Debug for Materialized<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Materialized").field(&self.path).finish()
    }
}

impl<T: Document> Serialize for Materialized<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.path.serialize(serializer)
    }
}

impl<'de, T: Document> Deserialize<'de> for Materialized<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::new)
    }
}

field_type!(
    [T: Document] Materialized<T>,
    TypeMeta::scalar(&[BsonType::String]).nullable()
);

impl<M, T: Document, E> Field<M, Materialized<T>, E> {
    /// Matches the paths that contain an id, at any place: `{path: {$regex: ",Programming,"}}`.
    ///
    /// This is the form of MongoDB's guide that needs nothing but the id. MongoDB walks the whole index of the paths for it;
    /// [`descendants`](crate::tree::Tree::descendants) asks for the paths that start with that of the node, which reads
    /// only their part of the index.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(materialized_path))]
    /// # struct Category { #[serde(rename = "_id")] id: String, path: Materialized<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let tree = db.tree::<Category>();
    /// # let new = |id: &str| Category { id: id.to_owned(), path: Materialized::default() };
    /// # let edge = |id, parent: &str| (new(id), Some(Ref::from(parent)));
    /// # tree.insert_edges([(new("Books"), None), edge("Programming", "Books"), edge("dbm", "Programming")]).await?;
    /// let below = tree.all().filter(|c| c.path.passes_through(Ref::from("Programming")));
    /// assert_eq!(below.ids().await?, ["dbm"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn passes_through(&self, id: impl IntoValue<Ref<T>>) -> Filter<M> {
        let id = encode_field(id.into_value().id());
        let pattern = id.and_then(|id| {
            let id = path_text(&id)?;
            Ok(format!("{SEPARATOR}{}{SEPARATOR}", escape(&id)).into())
        });
        Filter::from_node(operator(self.path(), "$regex", pattern))
    }
}
