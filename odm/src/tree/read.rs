//! The reads of a tree: of the collection, and around a node.

use super::nodes::Nodes;
use super::places::Selection;
use super::{NodeId, Tree};
use crate::model::tree::{DeclaredTree, OrderedSiblings, SingleParent};

impl<D: DeclaredTree> Tree<D> {
    /// Every node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.all().pre_order().ids().await?;
    /// assert_eq!(ids, ["Books", "Programming", "Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn all<'s>(&self) -> Nodes<'s, D> {
        Nodes::new(self, Ok(Selection::All))
    }

    /// The nodes without a parent, in their order if roots have one.
    ///
    /// Roots have an order by `order = rank` or by bounds. Without one, MongoDB returns them in any order: sort them. Lists
    /// of children put only children in order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.roots().ids().await?;
    /// assert_eq!(ids, ["Books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn roots<'s>(&self) -> Nodes<'s, D> {
        Nodes::new(self, Ok(Selection::Roots))
    }

    /// The nodes without children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.leaves().pre_order().ids().await?;
    /// assert_eq!(ids, ["Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn leaves<'s>(&self) -> Nodes<'s, D> {
        self.all().leaves()
    }

    /// The children of a node, in their order if siblings have one.
    ///
    /// They have one by `order = rank`, by bounds or by the list of their parent. Without one, MongoDB returns them in any
    /// order: sort them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.children(node("Books")).ids().await?;
    /// assert_eq!(ids, ["Programming", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn children<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D> {
        Nodes::new(self, node.stored_id().map(Selection::Children))
    }

    /// The descendants of a node: its children, their children, and so on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.descendants(node("Books")).pre_order().ids().await?;
    /// assert_eq!(ids, ["Programming", "Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn descendants<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D> {
        Nodes::new(self, node.stored_id().map(Selection::Descendants))
    }

    /// The nodes at this level; roots are at level 0.
    ///
    /// Parent references, child references and nested sets store no level unless the tree has a `depth` field: without
    /// one, the whole tree is read.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.at_depth(1).pre_order().ids().await?;
    /// assert_eq!(ids, ["Programming", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn at_depth<'s>(&self, level: u32) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        self.all().between(level, Some(level))
    }

    /// The nodes at these levels: see [`at_depth`](Self::at_depth).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.between_depths(0..=1).pre_order().ids().await?;
    /// assert_eq!(ids, ["Books", "Programming", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn between_depths<'s>(&self, levels: std::ops::RangeInclusive<u32>) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        self.all().between(*levels.start(), Some(*levels.end()))
    }

    /// The nodes at this level or below it: see [`at_depth`](Self::at_depth).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.from_depth(2).pre_order().ids().await?;
    /// assert_eq!(ids, ["Languages", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_depth<'s>(&self, level: u32) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        self.all().between(level, None)
    }

    /// The parent of a node; none for a root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let parent = tree.parent(node("Databases")).first().await?;
    /// assert_eq!(parent.map(|parent| parent.id), Some("Programming".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn parent<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        Nodes::new(self, node.stored_id().map(Selection::Parent))
    }

    /// The ancestors of a node, the root first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.ancestors(node("Databases")).ids().await?;
    /// assert_eq!(ids, ["Books", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn ancestors<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        Nodes::new(self, node.stored_id().map(Selection::Ancestors))
    }

    /// The path from the root to a node, both included.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.path(node("Databases")).ids().await?;
    /// assert_eq!(ids, ["Books", "Programming", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn path<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        self.ancestors(node).with_self()
    }

    /// The other children of a node's parent, or the other roots, in their order if siblings have one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.siblings(node("Databases")).ids().await?;
    /// assert_eq!(ids, ["Languages"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn siblings<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: SingleParent,
    {
        Nodes::new(self, node.stored_id().map(Selection::Siblings))
    }

    /// The sibling directly before a node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.previous_sibling(node("Databases")).ids().await?;
    /// assert_eq!(ids, ["Languages"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn previous_sibling<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: OrderedSiblings,
    {
        Nodes::new(self, node.stored_id().map(Selection::Previous))
    }

    /// The sibling directly after a node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.next_sibling(node("Languages")).ids().await?;
    /// assert_eq!(ids, ["Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn next_sibling<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: OrderedSiblings,
    {
        Nodes::new(self, node.stored_id().map(Selection::Next))
    }

    /// The first of a node's siblings, which may be the node itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.first_sibling(node("Databases")).ids().await?;
    /// assert_eq!(ids, ["Languages"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn first_sibling<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: OrderedSiblings,
    {
        Nodes::new(self, node.stored_id().map(Selection::First))
    }

    /// The last of a node's siblings, which may be the node itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let ids = tree.last_sibling(node("Databases")).ids().await?;
    /// assert_eq!(ids, ["Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_sibling<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: OrderedSiblings,
    {
        Nodes::new(self, node.stored_id().map(Selection::Last))
    }

    /// The siblings before a node, in their order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert_eq!(tree.siblings_before(node("Fiction")).ids().await?, ["Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn siblings_before<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: OrderedSiblings + SingleParent,
    {
        Nodes::new(self, node.stored_id().map(Selection::Before))
    }

    /// The siblings after a node, in their order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert_eq!(tree.siblings_after(node("Programming")).ids().await?, ["Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn siblings_after<'s>(&self, node: impl NodeId<D::Model>) -> Nodes<'s, D>
    where
        D: OrderedSiblings + SingleParent,
    {
        Nodes::new(self, node.stored_id().map(Selection::After))
    }
}
