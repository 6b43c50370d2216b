//! The builders of structural writes.

use std::fmt;
use std::marker::PhantomData;

use bson::Bson;
use bson::raw::RawDocumentBuf;
use futures_core::future::BoxFuture;

use super::forest::{Forest, TreeWrite};
use super::position::Target;
use super::queue::Within;
use super::{NodeId, Position, Tree};
use crate::collection::joint::{Place, joint};
use crate::collection::transaction::Tries;
use crate::collection::{decode, encode_with_id};
use crate::error::{Error, Result};
use crate::model::Document;
use crate::model::tree::{DeclaredTree, OrderedSiblings, SeveralParents, SingleParent, TreeDelete};
use crate::store::Session;

/// A structural write, about to be sent.
///
/// It runs in a transaction, and also writes the tree's fence: a small document for each tree and scope, by which
/// concurrent writes of one tree run one after the other. Where the deployment has no transactions, it fails before
/// anything is written, unless you say [`non_atomic`](Self::non_atomic).
#[must_use = "nothing is written until it is awaited"]
pub struct ChangeTree<'s, D> {
    forest: Forest<'static>,
    change: Result<Change>,
    session: Option<&'s mut Session>,
    non_atomic: bool,
    of: PhantomData<fn() -> D>,
}

/// The insert of a node, about to be sent: [`Tree::insert`]. It runs as [`ChangeTree`] does.
#[must_use = "nothing is inserted until it is awaited"]
pub struct InsertNode<'s, D> {
    change: ChangeTree<'s, D>,
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
    Insert {
        document: RawDocumentBuf,
        target: Target,
    },
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
    },
}

impl<D: DeclaredTree> Tree<D> {
    fn change<'s>(&self, change: Result<Change>) -> ChangeTree<'s, D> {
        ChangeTree {
            forest: self.forest(),
            change,
            session: None,
            non_atomic: false,
            of: PhantomData,
        }
    }

    /// Inserts a node. The tree writes the fields that it keeps, whatever the document holds there.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::tree::Position;
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
    /// [`tree_refusal`](Error::tree_refusal) says why the tree does not take the node; an `_id` that is taken is
    /// [`is_duplicate_key`](Error::is_duplicate_key).
    pub fn insert<'s>(
        &self,
        document: impl std::borrow::Borrow<D::Model>,
        position: Position<D>,
    ) -> InsertNode<'s, D> {
        let encoded = encode_with_id(document.borrow()).map(|(document, _)| document);
        let change = encoded.and_then(|document| {
            let target = position.target?;
            Ok(Change::Insert { document, target })
        });
        InsertNode {
            change: self.change(change),
        }
    }

    /// Deletes a node; `on_delete` of the declaration says what becomes of its descendants.
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
    pub fn delete<'s>(&self, node: impl NodeId<D::Model>) -> ChangeTree<'s, D> {
        self.delete_with(node, D::TREE.on_delete)
    }

    /// Deletes a node, with another policy than the declared one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// use odm::tree::TreeDelete;
    ///
    /// tree.delete_with(node("Programming"), TreeDelete::Adopt).await?;
    /// assert_eq!(tree.children(node("Books")).ids().await?, ["Languages", "Databases", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_with<'s>(
        &self,
        node: impl NodeId<D::Model>,
        policy: TreeDelete,
    ) -> ChangeTree<'s, D> {
        let id = node.stored_id();
        self.change(id.map(|id| Change::Delete { id, policy }))
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
    /// [`tree_refusal`](Error::tree_refusal): the place is in the node's own subtree, or too deep, or in another tree.
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
    /// A [`Rank`](crate::prelude::Rank) grows by about one digit for every five inserts at the same place between two siblings. After
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
    /// [`tree_refusal`](Error::tree_refusal): the parent is below the child.
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

impl<'s, D: DeclaredTree> ChangeTree<'s, D> {
    /// Runs in the transaction of this session.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// tree.move_to(node("Fiction"), Position::root()).session(&mut session).await?;
    /// tree.delete(node("Languages")).session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// assert_eq!(tree.roots().ids().await?, ["Books", "Fiction"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Writes without a transaction.
    ///
    /// If a command fails, or the process ends, the tree may be left in a state that `check` reports and `repair`
    /// completes: a change stores a record of itself first. Until then, other changes of the tree are
    /// [refused](crate::error::TreeRefusal::Unfinished).
    ///
    /// Of two such changes at the same time, one is refused before it writes anything, as
    /// [`Conflict`](crate::error::TreeRefusal::Conflict) or `Unfinished`, and is to be run again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// tree.move_to(node("Programming"), Position::root()).non_atomic().await?;
    /// assert_eq!(tree.path(node("Languages")).ids().await?, ["Programming", "Languages"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn non_atomic(mut self) -> Self {
        self.non_atomic = true;
        self
    }

    async fn run(self) -> Result<(Option<RawDocumentBuf>, TreeWrite)> {
        let mut forest = self.forest;
        let model = forest.model;
        let named = |error: Error| error.with_model(model.name);
        let change = self.change.map_err(named)?;
        let place = Place::new(self.session, self.non_atomic).map_err(named)?;
        let _turn = forest.turn(&place, change.within(&forest)?).await?;
        joint!(place, forest, |forest| change.run(forest))
    }
}

impl Change {
    /// The tree that changes.
    fn within(&self, forest: &Forest<'_>) -> Result<Within<'_>> {
        Ok(match self {
            Self::Insert { document, .. } => Within::Scope(forest.scope_of(document)?),
            Self::Swap { one: id, .. }
            | Self::AddChild { parent: id, .. }
            | Self::RemoveChild { parent: id, .. }
            | Self::Move { id, .. }
            | Self::Rerank { id }
            | Self::Delete { id, .. } => Within::TreeOf(id),
        })
    }

    async fn run(&self, forest: &mut Forest<'_>) -> Result<(Option<RawDocumentBuf>, TreeWrite)> {
        match self {
            Self::Insert { document, target } => {
                let (document, done) = forest.insert_at(target, document).await?;
                Ok((Some(document), done))
            }
            Self::Move { id, target } => Ok((None, forest.relocate(id, target).await?)),
            Self::Swap { one, other } => Ok((None, forest.swap_nodes(one, other).await?)),
            Self::Rerank { id } => Ok((None, forest.rerank(id).await?)),
            Self::AddChild { parent, child } => Ok((None, forest.add_child(parent, child).await?)),
            Self::RemoveChild { parent, child } => {
                Ok((None, forest.remove_child(parent, child).await?))
            }
            Self::Delete { id, policy } => Ok((None, forest.remove(id, *policy).await?)),
        }
    }
}

impl<'s, D: DeclaredTree> InsertNode<'s, D> {
    /// Runs in the transaction of this session.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// tree.insert(new("Music"), Position::first_root()).session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert_eq!(tree.roots().ids().await?, ["Books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.change = self.change.session(session);
        self
    }

    /// Writes without a transaction: see [`ChangeTree::non_atomic`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let music = tree.insert(new("Music"), Position::first_root()).non_atomic().await?;
    /// assert_eq!(music.written.inserted, 1);
    /// assert_eq!(tree.roots().ids().await?, ["Music", "Books"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn non_atomic(mut self) -> Self {
        self.change = self.change.non_atomic();
        self
    }

    async fn run(self) -> Result<InsertedNode<D::Model>> {
        let (document, written) = self.change.run().await?;
        let document = document.ok_or_else(|| Error::malformed_reply("a node"))?;
        let node = decode(&document, D::Model::model().name)?;
        Ok(InsertedNode { node, written })
    }
}

impl<'s, D: DeclaredTree> IntoFuture for ChangeTree<'s, D> {
    type Output = Result<TreeWrite>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.run().await?.1) })
    }
}

impl<'s, D: DeclaredTree> IntoFuture for InsertNode<'s, D> {
    type Output = Result<InsertedNode<D::Model>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<D> fmt::Debug for ChangeTree<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangeTree({:?})", self.change)
    }
}

impl<D> fmt::Debug for InsertNode<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.change, f)
    }
}
