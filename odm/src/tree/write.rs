//! The builders of structural writes.

use std::fmt;
use std::marker::PhantomData;

use bson::Bson;
use bson::raw::{RawDocument, RawDocumentBuf};

use super::position::Target;
use super::queue::TurnOf;
use super::tree_store::{TreeStore, TreeWrite};
use super::{NodeId, Position, Tree};
use crate::collection::{Collection, decode_document, encode_with_id};
use crate::error::Result;
use crate::exec::Channel;
use crate::model::tree::{DeclaredTree, OrderedSiblings, SeveralParents, SingleParent, TreeDelete};
use crate::model::{Document, ModelMeta};
use crate::store::Turn;
use crate::write::{Atomic, ForDependents, WriteSeveral};

/// A structural write, about to be sent.
///
/// Its transaction also writes the tree's fence: a small document for each tree and scope, by which concurrent writes of
/// one tree run one after the other.
pub type ChangeTree<'s, D> = Atomic<'s, NodeChange<D>>;

/// The insert of a node, about to be sent: [`Tree::insert`]. It runs as [`ChangeTree`] does.
pub type InsertNode<'s, D> = Atomic<'s, NodeInsert<D>>;

/// The delete of a node, about to be sent: [`Tree::delete`]. It runs as [`ChangeTree`] does.
pub type DeleteNode<'s, D> = Atomic<'s, NodeChange<D, OfDelete>>;

/// The writes of a [`ChangeTree`] or, with `K`, of a [`DeleteNode`].
pub struct NodeChange<D, K = OfChange> {
    tree_store: TreeStore<'static>,
    change: Change,
    of: PhantomData<fn() -> (D, K)>,
}

/// Marks the writes of a [`ChangeTree`].
#[derive(Debug)]
pub enum OfChange {}

/// Marks the writes of a [`DeleteNode`], whose policy can be set.
#[derive(Debug)]
pub enum OfDelete {}

/// The writes of an [`InsertNode`].
pub struct NodeInsert<D: DeclaredTree> {
    tree_store: TreeStore<'static>,
    pub(super) collection: Collection<D::Model>,
    pub(super) document: RawDocumentBuf,
    target: Target,
}

/// The result of [`Tree::insert`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertedNode<M> {
    /// The node as it is stored, with the fields that the tree keeps.
    pub node: M,
    /// What was written.
    pub written: TreeWrite,
}

#[derive(Debug)]
enum Change {
    Move {
        id: Bson,
        target: Target,
    },
    Swap {
        one: Bson,
        other: Bson,
    },
    Rerank {
        id: Bson,
    },
    AddChild {
        parent: Bson,
        child: Bson,
    },
    RemoveChild {
        parent: Bson,
        child: Bson,
    },
    Delete {
        id: Bson,
        policy: TreeDelete,
        dependents: ForDependents,
    },
}

impl<D: DeclaredTree> Tree<D> {
    fn change<'s, K>(&self, change: Result<Change>) -> Atomic<'s, NodeChange<D, K>> {
        let tree_store = self.tree_store();
        let writes = change.map(|change| NodeChange {
            tree_store,
            change,
            of: PhantomData,
        });
        Atomic::new(writes, D::Model::model())
    }

    /// Inserts a node. The tree writes the fields that it keeps, whatever the document holds there.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "categories", tree(materialized_path))]
    /// struct Category {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     path: Materialized<Category>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let tree = db.tree::<Category>();
    /// let new = |id: &str| Category { id: id.to_owned(), path: Materialized::default() };
    /// let books = tree.insert(new("Books"), Position::root()).await?.node;
    /// let programming = tree.insert(new("Programming"), Position::child_of(&books)).await?.node;
    /// assert_eq!(programming.path.as_str(), Some(",Books,"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](crate::Error::tree_refusal) says why the tree does not take the node; an `_id` that is taken is
    /// [`is_duplicate_key`](crate::Error::is_duplicate_key).
    pub fn insert<'s>(
        &self,
        document: impl std::borrow::Borrow<D::Model>,
        position: Position<D>,
    ) -> InsertNode<'s, D> {
        let tree_store = self.tree_store();
        let writes = encode_with_id(document.borrow()).and_then(|(document, _)| {
            Ok(NodeInsert {
                tree_store,
                collection: self.collection.clone(),
                document,
                target: position.target?,
            })
        });
        Atomic::new(writes, D::Model::model())
    }

    /// Deletes a node; `on_delete` of the declaration says what becomes of its descendants, and
    /// [`policy`](DeleteNode::policy) replaces it for one delete.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// assert_eq!(tree.delete(node("Fiction")).await?.deleted, 1);
    /// let error = tree.delete(node("Programming")).await.unwrap_err();
    /// assert!(error.tree_refusal().is_some(), "it has children, and `on_delete` is `restrict`");
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete<'s>(&self, node: impl NodeId<D::Model>) -> DeleteNode<'s, D> {
        let policy = D::TREE.on_delete;
        let id = node.stored_id();
        let dependents = ForDependents::Unsaid;
        self.change(id.map(|id| Change::Delete {
            id,
            policy,
            dependents,
        }))
    }

    /// Moves a node with its subtree.
    ///
    /// The number of commands does not depend on the size of the subtree: one update changes all the descendants.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.move_to(node("Databases"), Position::before(node("Fiction"))).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Programming", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](crate::Error::tree_refusal): the place is in the node's own subtree, or too deep, or in another tree.
    pub fn move_to<'s>(
        &self,
        node: impl NodeId<D::Model>,
        position: Position<D>,
    ) -> ChangeTree<'s, D>
    where
        D: SingleParent,
    {
        let change = node.stored_id().and_then(|id| {
            let target = position.target?;
            Ok(Change::Move { id, target })
        });
        self.change(change)
    }

    /// Moves a node before the sibling before it; the first one stays.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.move_up(node("Fiction")).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Fiction", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn move_up<'s>(&self, node: impl NodeId<D::Model>) -> ChangeTree<'s, D>
    where
        D: OrderedSiblings + SingleParent,
    {
        let target = Target::Step { after: false };
        self.change(node.stored_id().map(|id| Change::Move { id, target }))
    }

    /// Moves a node behind the sibling after it; the last one stays.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.move_down(node("Programming")).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Fiction", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn move_down<'s>(&self, node: impl NodeId<D::Model>) -> ChangeTree<'s, D>
    where
        D: OrderedSiblings + SingleParent,
    {
        let target = Target::Step { after: true };
        self.change(node.stored_id().map(|id| Change::Move { id, target }))
    }

    /// Swaps two nodes, each with its subtree. Neither may be in the subtree of the other.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.swap(node("Programming"), node("Fiction")).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Fiction", "Programming"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn swap<'s>(
        &self,
        one: impl NodeId<D::Model>,
        other: impl NodeId<D::Model>,
    ) -> ChangeTree<'s, D>
    where
        D: SingleParent,
    {
        let change = one.stored_id().and_then(|one| {
            let other = other.stored_id()?;
            Ok(Change::Swap { one, other })
        });
        self.change(change)
    }

    /// Gives a node and its siblings new, short ranks, in the order that they have; without ranks, nothing is written.
    ///
    /// A [`Rank`](crate::tree::prelude::Rank) grows by about one digit for every five inserts at the same place between two siblings. After
    /// thousands of such inserts, this makes the ranks short again, by an update of each sibling, all in one command.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// for number in 0..100 {
    ///     tree.insert(new(&format!("Topic {number}")), Position::before(node("Fiction"))).await?;
    /// }
    /// let before = tree.children(node("Books")).ids().await?;
    /// tree.rerank_siblings(node("Fiction")).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, before);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rerank_siblings<'s>(&self, node: impl NodeId<D::Model>) -> ChangeTree<'s, D>
    where
        D: OrderedSiblings + SingleParent,
    {
        let id = node.stored_id();
        self.change(id.map(|id| Change::Rerank { id }))
    }

    /// Makes a node the last child of another one, beside its other parents. A node that is a child already stays where it
    /// is.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "parts", tree(child_references, graph))]
    /// # struct Part { #[serde(rename = "_id")] id: String, children: Children<Part> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Db::memory().tree::<Part>();
    /// # let part = |id: &str| Part { id: id.to_owned(), children: Children::default() };
    /// # let bike = graph.insert(part("bike"), Position::root()).await?.node;
    /// # let wheel = graph.insert(part("wheel"), Position::child_of(&bike)).await?.node;
    /// let cart = graph.insert(part("cart"), Position::root()).await?.node;
    /// graph.add_child(&cart, &wheel).await?;
    /// assert_eq!(graph.children(&bike).ids().await?, ["wheel"]);
    /// assert_eq!(graph.children(&cart).ids().await?, ["wheel"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](crate::Error::tree_refusal): the parent is below the child.
    pub fn add_child<'s>(
        &self,
        parent: impl NodeId<D::Model>,
        child: impl NodeId<D::Model>,
    ) -> ChangeTree<'s, D>
    where
        D: SeveralParents,
    {
        let change = parent.stored_id().and_then(|parent| {
            let child = child.stored_id()?;
            Ok(Change::AddChild { parent, child })
        });
        self.change(change)
    }

    /// Takes a child away from one of its parents. The child stays in the collection, as a root if that was its only
    /// parent.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "parts", tree(child_references, graph))]
    /// # struct Part { #[serde(rename = "_id")] id: String, children: Children<Part> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Db::memory().tree::<Part>();
    /// # let part = |id: &str| Part { id: id.to_owned(), children: Children::default() };
    /// # let bike = graph.insert(part("bike"), Position::root()).await?.node;
    /// # let wheel = graph.insert(part("wheel"), Position::child_of(&bike)).await?.node;
    /// assert_eq!(graph.roots().ids().await?, ["bike"]);
    /// graph.remove_child(&bike, &wheel).await?;
    /// assert_eq!(graph.roots().count().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove_child<'s>(
        &self,
        parent: impl NodeId<D::Model>,
        child: impl NodeId<D::Model>,
    ) -> ChangeTree<'s, D>
    where
        D: SeveralParents,
    {
        let change = parent.stored_id().and_then(|parent| {
            let child = child.stored_id()?;
            Ok(Change::RemoveChild { parent, child })
        });
        self.change(change)
    }
}

impl Change {
    /// A node of the tree that changes.
    fn node(&self) -> &Bson {
        match self {
            Self::Swap { one: id, .. }
            | Self::AddChild { parent: id, .. }
            | Self::RemoveChild { parent: id, .. }
            | Self::Move { id, .. }
            | Self::Rerank { id }
            | Self::Delete { id, .. } => id,
        }
    }
}

impl<D, K> WriteSeveral for NodeChange<D, K> {
    type Done = TreeWrite;

    fn model(&self) -> &'static ModelMeta {
        self.tree_store.model
    }

    fn channel(&self) -> Channel<'static> {
        self.tree_store.channel.in_session(None)
    }

    async fn turn(&self) -> Result<Turn> {
        let of = TurnOf::Node(self.change.node());
        self.tree_store.in_session(None).turn(of).await
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<TreeWrite> {
        let mut tree_store = self.tree_store.on(channel);
        match &self.change {
            Change::Move { id, target } => tree_store.relocate(id, target).await,
            Change::Swap { one, other } => tree_store.swap_nodes(one, other).await,
            Change::Rerank { id } => tree_store.rerank(id).await,
            Change::AddChild { parent, child } => tree_store.add_child(parent, child).await,
            Change::RemoveChild { parent, child } => tree_store.remove_child(parent, child).await,
            Change::Delete {
                id,
                policy,
                dependents,
            } => {
                dependents.check(tree_store.model)?;
                tree_store.remove(id, *policy, *dependents).await
            }
        }
    }
}

impl<D: DeclaredTree> WriteSeveral for NodeInsert<D> {
    type Done = InsertedNode<D::Model>;

    fn model(&self) -> &'static ModelMeta {
        self.tree_store.model
    }

    fn channel(&self) -> Channel<'static> {
        self.tree_store.channel.in_session(None)
    }

    async fn turn(&self) -> Result<Turn> {
        let of = TurnOf::Scope(self.tree_store.scope_of(&self.document)?);
        self.tree_store.in_session(None).turn(of).await
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<InsertedNode<D::Model>> {
        self.insert(channel, &self.document).await
    }
}

impl<D: DeclaredTree> NodeInsert<D> {
    /// Inserts the document, which others may have filled.
    pub(super) async fn insert(
        &self,
        channel: &mut Channel<'_>,
        document: &RawDocument,
    ) -> Result<InsertedNode<D::Model>> {
        let mut tree_store = self.tree_store.on(channel);
        let (document, written) = tree_store.insert_at(&self.target, document).await?;
        let node = decode_document(&document)?;
        Ok(InsertedNode { node, written })
    }
}

impl<D: DeclaredTree> DeleteNode<'_, D> {
    /// Says what becomes of the descendants, instead of `on_delete` of the declaration.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// use odm::tree::TreeDelete;
    ///
    /// tree.delete(node("Programming")).policy(TreeDelete::Adopt).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(self, policy: TreeDelete) -> Self {
        self.delete(|chosen, _| *chosen = policy)
    }

    /// Also does what the relations of the model declare by `on_delete` to the documents of other collections that refer to
    /// the deleted nodes, as [`Delete::with_dependents`](crate::collection::Delete::with_dependents) does. Without a
    /// transaction, they are written before the nodes, and not looked for again. The result counts nodes only.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::tree::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(
    ///     collection = "categories",
    ///     tree(parent_references, parent = parent, on_delete = cascade),
    ///     has_many(products: Product, by = category, on_delete = cascade)
    /// )]
    /// struct Category {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     parent: Parent<Category>,
    /// }
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "products")]
    /// struct Product {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(index)]
    ///     category: Ref<Category>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let tree = db.tree::<Category>();
    /// let category = |id: &str| Category { id: id.to_owned(), parent: Parent::default() };
    /// tree.insert(&category("books"), Position::root()).await?;
    /// tree.insert(&category("novels"), Position::child_of(Ref::from("books"))).await?;
    /// let products = db.collection::<Product>();
    /// products.insert_one(&Product { id: 1, category: Ref::from("novels") }).await?;
    ///
    /// let deleted = tree.delete(Ref::from("books")).with_dependents().await?;
    /// assert_eq!(deleted.deleted, 2);
    /// assert_eq!(products.estimated_document_count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_dependents(self) -> Self {
        self.delete(|_, dependents| *dependents = ForDependents::Act)
    }

    /// Leaves documents of other collections that refer to the deleted nodes as they are, although the model declares
    /// `on_delete` for them; see [`Delete::leave_dangling`](crate::collection::Delete::leave_dangling).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.delete(node("Fiction")).leave_dangling().await?;
    /// assert!(!tree.roots().ids().await?.contains(&"Fiction".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn leave_dangling(self) -> Self {
        self.delete(|_, dependents| *dependents = ForDependents::Leave)
    }

    /// Changes what the delete says.
    fn delete(self, say: impl FnOnce(&mut TreeDelete, &mut ForDependents)) -> Self {
        self.map(|mut writes| {
            if let Change::Delete {
                policy, dependents, ..
            } = &mut writes.change
            {
                say(policy, dependents);
            }
            writes
        })
    }
}

/// A delete where any change of a tree is expected.
impl<'s, D> From<DeleteNode<'s, D>> for ChangeTree<'s, D> {
    fn from(delete: DeleteNode<'s, D>) -> Self {
        delete.map(|writes| NodeChange {
            tree_store: writes.tree_store,
            change: writes.change,
            of: PhantomData,
        })
    }
}

impl<D, K> fmt::Debug for NodeChange<D, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangeTree({:?})", self.change)
    }
}

impl<D: DeclaredTree> fmt::Debug for NodeInsert<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InsertNode({:?}, {:?})", self.document, self.target)
    }
}
