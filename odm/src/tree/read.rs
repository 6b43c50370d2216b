//! The reads of a tree: of the collection, and around a node.

use super::node::id_key;
use super::nodes::Nodes;
use super::select::Selection;
use super::{NodeId, Tree};
use crate::collection::decode_id;
use crate::error::Result;
use crate::model::Document;
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

    /// The nodes without a parent, in their order if siblings have one.
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
        Nodes::new(self, Ok(Selection::Leaves))
    }

    /// The children of a node, in their order if siblings have one.
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

    /// Whether a node has no children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert!(tree.is_leaf(node("Fiction")).await?);
    /// assert!(!tree.is_leaf(node("Books")).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn is_leaf(&self, node: impl NodeId<D::Model>) -> Result<bool> {
        Ok(!self.children(node).exists().await?)
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

    /// How many ancestors a node has: 0 for a root.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert_eq!(tree.depth(node("Books")).await?, 0);
    /// assert_eq!(tree.depth(node("Databases")).await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn depth(&self, node: impl NodeId<D::Model>) -> Result<usize>
    where
        D: SingleParent,
    {
        let forest = self.forest();
        let node = forest.node(None, &node.stored_id()?).await?;
        if forest.tree.depth.is_some() {
            return Ok(usize::try_from(node.depth).unwrap_or_default());
        }
        Ok(forest.lineage(None, &node).await?.len())
    }

    /// Whether a node has no parent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert!(tree.is_root(node("Books")).await?);
    /// assert!(!tree.is_root(node("Fiction")).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn is_root(&self, node: impl NodeId<D::Model>) -> Result<bool>
    where
        D: SingleParent,
    {
        let forest = self.forest();
        let node = forest.node(None, &node.stored_id()?).await?;
        Ok(forest.parent_of(None, &node).await?.is_none())
    }

    /// Whether the first node is the parent of the second.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert!(tree.is_parent_of(node("Books"), node("Fiction")).await?);
    /// assert!(!tree.is_parent_of(node("Books"), node("Databases")).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn is_parent_of(
        &self,
        node: impl NodeId<D::Model>,
        child: impl NodeId<D::Model>,
    ) -> Result<bool>
    where
        D: SingleParent,
    {
        let forest = self.forest();
        let child = forest.node(None, &child.stored_id()?).await?;
        match forest.parent_of(None, &child).await? {
            Some(parent) => Ok(id_key(&parent)? == id_key(&node.stored_id()?)?),
            None => Ok(false),
        }
    }

    /// Whether the first node is an ancestor of the second.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert!(tree.is_ancestor_of(node("Books"), node("Databases")).await?);
    /// assert!(!tree.is_ancestor_of(node("Fiction"), node("Databases")).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn is_ancestor_of(
        &self,
        node: impl NodeId<D::Model>,
        descendant: impl NodeId<D::Model>,
    ) -> Result<bool>
    where
        D: SingleParent,
    {
        let forest = self.forest();
        let own = id_key(&node.stored_id()?)?;
        let descendant = forest.node(None, &descendant.stored_id()?).await?;
        for ancestor in forest.lineage(None, &descendant).await? {
            if id_key(&ancestor)? == own {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether two nodes have the same parent, or are both roots of one scope.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert!(tree.are_siblings(node("Languages"), node("Databases")).await?);
    /// assert!(!tree.are_siblings(node("Languages"), node("Fiction")).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn are_siblings(
        &self,
        one: impl NodeId<D::Model>,
        other: impl NodeId<D::Model>,
    ) -> Result<bool>
    where
        D: SingleParent,
    {
        let forest = self.forest();
        let (one, other) = (one.stored_id()?, other.stored_id()?);
        let (one, other) = forest.pair(None, &one, &other).await?;
        let parents = (
            forest.parent_of(None, &one).await?,
            forest.parent_of(None, &other).await?,
        );
        Ok(match parents {
            (None, None) => one.scope == other.scope,
            (Some(one), Some(other)) => id_key(&one)? == id_key(&other)?,
            _ => false,
        })
    }

    /// The id of the deepest node that is each of these nodes or an ancestor of it; `None` if they are in different
    /// trees, or if there are no nodes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let nodes = [node("Databases"), node("Languages")];
    /// assert_eq!(tree.lowest_common_ancestor(nodes).await?, Some("Programming".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn lowest_common_ancestor<N: NodeId<D::Model>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> Result<Option<<D::Model as Document>::Id>>
    where
        D: SingleParent,
    {
        let forest = self.forest();
        let mut common: Option<Vec<bson::Bson>> = None;
        for node in nodes {
            let node = forest.node(None, &node.stored_id()?).await?;
            let mut path = forest.lineage(None, &node).await?;
            path.push(node.id);
            let shared = match common {
                None => path,
                Some(mut before) => {
                    let same = before
                        .iter()
                        .zip(&path)
                        .take_while(|(one, other)| one == other);
                    let shared = same.count();
                    before.truncate(shared);
                    before
                }
            };
            common = Some(shared);
        }
        let lowest = common.and_then(|mut common| common.pop());
        lowest.map(decode_id::<D::Model>).transpose()
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
}
