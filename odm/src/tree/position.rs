//! Where a node goes.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document as BsonDocument};

use super::Tree;
use crate::collection::Loaded;
use crate::error::Result;
use crate::model::Document;
use crate::model::tree::{DeclaredTree, OrderedSiblings};
use crate::query::encode::encode_field;
use crate::query::{FilterFn, fields};
use crate::types::Ref;

/// A value that names a node: the document, or a [`Ref`] with its id.
///
/// Operations use only the id, and read the place of the node from the database.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a node of `{M}`",
    label = "expected `&{M}` or `Ref<{M}>`",
    note = "for an id, write `Ref::from(id)`"
)]
pub trait NodeId<M: Document> {
    /// The stored id.
    #[doc(hidden)]
    fn stored_id(self) -> Result<Bson>;
}

fn stored_id<M: Document>(id: &M::Id) -> Result<Bson> {
    encode_field(id).map_err(|error| error.with_path("_id").with_model(M::model().name))
}

#[diagnostic::do_not_recommend]
impl<M: Document> NodeId<M> for &M {
    fn stored_id(self) -> Result<Bson> {
        stored_id::<M>(self.id())
    }
}

#[diagnostic::do_not_recommend]
impl<M: Document> NodeId<M> for Ref<M> {
    fn stored_id(self) -> Result<Bson> {
        stored_id::<M>(self.id())
    }
}

#[diagnostic::do_not_recommend]
impl<M: Document> NodeId<M> for &Ref<M> {
    fn stored_id(self) -> Result<Bson> {
        stored_id::<M>(self.id())
    }
}

#[diagnostic::do_not_recommend]
impl<M: Document> NodeId<M> for &Loaded<M> {
    fn stored_id(self) -> Result<Bson> {
        stored_id::<M>(self.id())
    }
}

/// A place in a tree, for [`insert`](super::Tree::insert) and [`move_to`](super::Tree::move_to).
///
/// Where siblings have an order, [`root`](Self::root) and [`child_of`](Self::child_of) are the last places.
pub struct Position<D> {
    pub(super) target: Result<Target>,
    of: PhantomData<fn() -> D>,
}

/// The place, without types.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// Under a parent, or among the roots.
    Under { parent: Option<Bson>, first: bool },
    /// Next to a sibling.
    Beside { sibling: Bson, after: bool },
    /// Before the sibling with this index, or last.
    At { parent: Option<Bson>, index: usize },
    /// One place before or after its own, for a node that moves.
    Step { after: bool },
    /// Before the first sibling that matches, or last.
    Sorted {
        parent: Option<Bson>,
        before: BsonDocument,
    },
}

impl Target {
    /// After the other roots.
    pub(super) const LAST_ROOT: Self = Self::Under {
        parent: None,
        first: false,
    };

    /// The id of the parent or the sibling that the place is named by.
    pub(super) fn node(&self) -> Option<&Bson> {
        match self {
            Self::Under { parent, .. } | Self::Sorted { parent, .. } | Self::At { parent, .. } => {
                parent.as_ref()
            }
            Self::Step { .. } => None,
            Self::Beside { sibling, .. } => Some(sibling),
        }
    }
}

impl<D: DeclaredTree> Position<D> {
    fn new(target: Result<Target>) -> Self {
        Self {
            target,
            of: PhantomData,
        }
    }

    fn under(parent: Result<Option<Bson>>, first: bool) -> Self {
        Self::new(parent.map(|parent| Target::Under { parent, first }))
    }

    /// A root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::root()).await?;
    /// assert_eq!(tree.roots().ids().await?, ["Books", "History"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn root() -> Self {
        Self::under(Ok(None), false)
    }

    /// A child of a node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::child_of(node("Fiction"))).await?;
    /// assert_eq!(tree.children(node("Fiction")).ids().await?, ["History"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn child_of(parent: impl NodeId<D::Model>) -> Self {
        Self::under(parent.stored_id().map(Some), false)
    }
}

impl<D: OrderedSiblings> Position<D> {
    /// The first root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::first_root()).await?;
    /// assert_eq!(tree.roots().ids().await?, ["History", "Books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn first_root() -> Self {
        Self::under(Ok(None), true)
    }

    /// The last root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::last_root()).await?;
    /// assert_eq!(tree.roots().ids().await?, ["Books", "History"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_root() -> Self {
        Self::root()
    }

    /// The first child of a node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::first_child_of(node("Books"))).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["History", "Programming", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn first_child_of(parent: impl NodeId<D::Model>) -> Self {
        Self::under(parent.stored_id().map(Some), true)
    }

    /// The last child of a node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::last_child_of(node("Books"))).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Programming", "Fiction", "History"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_child_of(parent: impl NodeId<D::Model>) -> Self {
        Self::child_of(parent)
    }

    /// Directly before a sibling.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::before(node("Fiction"))).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Programming", "History", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn before(sibling: impl NodeId<D::Model>) -> Self {
        Self::beside(sibling.stored_id(), false)
    }

    /// Directly after a sibling.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::after(node("Programming"))).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Programming", "History", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn after(sibling: impl NodeId<D::Model>) -> Self {
        Self::beside(sibling.stored_id(), true)
    }

    /// The child of a node with this index, which begins at 0; the last one if the node has fewer children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::child_at(node("Books"), 1)).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Programming", "History", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn child_at(parent: impl NodeId<D::Model>, index: usize) -> Self {
        let parent = parent.stored_id().map(Some);
        Self::new(parent.map(|parent| Target::At { parent, index }))
    }

    /// The root with this index, which begins at 0; the last one if there are fewer roots.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), Position::root_at(0)).await?;
    /// assert_eq!(tree.roots().ids().await?, ["History", "Books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn root_at(index: usize) -> Self {
        Self::new(Ok(Target::At {
            parent: None,
            index,
        }))
    }

    fn beside(sibling: Result<Bson>, after: bool) -> Self {
        Self::new(sibling.map(|sibling| Target::Beside { sibling, after }))
    }
}

impl<D: DeclaredTree> Tree<D> {
    /// The place of a child among sorted children: before the first child that matches, or last if none matches.
    ///
    /// `tree.insert(&new, tree.sorted_child_of(&books, |c| c.name.gt(&new.name)))` keeps children in the order of their names.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// // Fiction comes first.
    /// tree.move_to(node("Fiction"), Position::first_child_of(node("Books"))).await?;
    /// tree.insert(new("History"), tree.sorted_child_of(node("Books"), |c| c.id.gt("History"))).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Fiction", "History", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sorted_child_of(
        &self,
        parent: impl NodeId<D::Model>,
        before: impl FilterFn<D::Model>,
    ) -> Position<D>
    where
        D: OrderedSiblings,
    {
        sorted(parent.stored_id().map(Some), before)
    }

    /// The place of a root among sorted roots: before the first root that matches, or last if none matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.insert(new("History"), tree.sorted_root(|c| c.id.gt("History"))).await?;
    /// assert_eq!(tree.roots().ids().await?, ["Books", "History"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sorted_root(&self, before: impl FilterFn<D::Model>) -> Position<D>
    where
        D: OrderedSiblings,
    {
        sorted(Ok(None), before)
    }
}

fn sorted<D: DeclaredTree>(
    parent: Result<Option<Bson>>,
    before: impl FilterFn<D::Model>,
) -> Position<D> {
    let before = before(fields::<D::Model>()).into_document();
    Position::new(parent.and_then(|parent| {
        Ok(Target::Sorted {
            parent,
            before: before?,
        })
    }))
}

impl<D> fmt::Debug for Position<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.target, f)
    }
}
