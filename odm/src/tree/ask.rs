//! Questions about the places of nodes.

use std::fmt;
use std::marker::PhantomData;

use bson::Bson;
use futures_core::future::BoxFuture;

use super::at_once::{Reads, at_once};
use super::node::{Node, id_key, same_id, same_scope};
use super::places::{Extent, HasChildrenBy, Selection};
use super::tree_store::TreeStore;
use super::{NodeId, Tree};
use crate::collection::decode_id;
use crate::error::{Error, Result};
use crate::model::Document;
use crate::model::tree::{DeclaredTree, SingleParent};
use crate::store::Session;

/// A question about the places of nodes, about to be asked: [`Tree::depth`], [`Tree::is_ancestor_of`] and others.
///
/// As a read of [`Nodes`](super::Nodes), one of several commands runs in a transaction.
#[must_use = "nothing is read until it is awaited"]
pub struct AskTree<'s, D, T> {
    tree_store: TreeStore<'static>,
    question: Result<Question>,
    read: fn(Answer) -> Result<T>,
    session: Option<&'s mut Session>,
    of: PhantomData<fn() -> D>,
}

#[derive(Debug)]
enum Question {
    IsLeaf(Bson),
    Depth(Bson),
    IsRoot(Bson),
    IsParent { node: Bson, child: Bson },
    IsAncestor { node: Bson, descendant: Bson },
    AreSiblings(Bson, Bson),
    CommonAncestor(Vec<Bson>),
}

#[derive(Debug)]
enum Answer {
    Is(bool),
    Depth(usize),
    Node(Option<Bson>),
}

impl Answer {
    fn is(self) -> Result<bool> {
        match self {
            Self::Is(is) => Ok(is),
            _ => Err(Error::malformed_reply("yes or no")),
        }
    }

    fn depth(self) -> Result<usize> {
        match self {
            Self::Depth(depth) => Ok(depth),
            _ => Err(Error::malformed_reply("a depth")),
        }
    }

    fn node<M: Document>(self) -> Result<Option<M::Id>> {
        match self {
            Self::Node(id) => id.map(decode_id::<M>).transpose(),
            _ => Err(Error::malformed_reply("an id")),
        }
    }
}

fn both<M: Document>(one: impl NodeId<M>, other: impl NodeId<M>) -> Result<(Bson, Bson)> {
    Ok((one.stored_id()?, other.stored_id()?))
}

impl<D: DeclaredTree> Tree<D> {
    fn ask<'s, T>(
        &self,
        question: Result<Question>,
        read: fn(Answer) -> Result<T>,
    ) -> AskTree<'s, D, T> {
        AskTree {
            tree_store: self.tree_store(),
            question,
            read,
            session: None,
            of: PhantomData,
        }
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
    pub fn is_leaf<'s>(&self, node: impl NodeId<D::Model>) -> AskTree<'s, D, bool> {
        self.ask(node.stored_id().map(Question::IsLeaf), Answer::is)
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
    pub fn depth<'s>(&self, node: impl NodeId<D::Model>) -> AskTree<'s, D, usize>
    where
        D: SingleParent,
    {
        self.ask(node.stored_id().map(Question::Depth), Answer::depth)
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
    pub fn is_root<'s>(&self, node: impl NodeId<D::Model>) -> AskTree<'s, D, bool>
    where
        D: SingleParent,
    {
        self.ask(node.stored_id().map(Question::IsRoot), Answer::is)
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
    pub fn is_parent_of<'s>(
        &self,
        node: impl NodeId<D::Model>,
        child: impl NodeId<D::Model>,
    ) -> AskTree<'s, D, bool>
    where
        D: SingleParent,
    {
        let question = both(node, child).map(|(node, child)| Question::IsParent { node, child });
        self.ask(question, Answer::is)
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
    pub fn is_ancestor_of<'s>(
        &self,
        node: impl NodeId<D::Model>,
        descendant: impl NodeId<D::Model>,
    ) -> AskTree<'s, D, bool>
    where
        D: SingleParent,
    {
        let question = both(node, descendant)
            .map(|(node, descendant)| Question::IsAncestor { node, descendant });
        self.ask(question, Answer::is)
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
    pub fn are_siblings<'s>(
        &self,
        one: impl NodeId<D::Model>,
        other: impl NodeId<D::Model>,
    ) -> AskTree<'s, D, bool>
    where
        D: SingleParent,
    {
        let question = both(one, other).map(|(one, other)| Question::AreSiblings(one, other));
        self.ask(question, Answer::is)
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
    pub fn lowest_common_ancestor<'s, N: NodeId<D::Model>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> AskTree<'s, D, Option<<D::Model as Document>::Id>>
    where
        D: SingleParent,
    {
        let ids = nodes.into_iter().map(NodeId::stored_id);
        let question = ids.collect::<Result<_>>().map(Question::CommonAncestor);
        self.ask(question, Answer::node::<D::Model>)
    }
}

impl Question {
    /// Whether the answer takes several commands, between which the tree may change.
    fn is_torn(&self, tree_store: &TreeStore<'_>) -> bool {
        let ways = &tree_store.ways;
        match self {
            Self::IsLeaf(_) => ways.has_children == HasChildrenBy::Lineage,
            Self::Depth(_) => !ways.depth.is_stored(),
            Self::IsRoot(_) | Self::IsParent { .. } | Self::AreSiblings(..) => {
                !ways.parent.is_stored()
            }
            Self::IsAncestor { .. } => !ways.ancestors.is_stored(),
            Self::CommonAncestor(ids) => ids.len() > 1 || !ways.ancestors.is_stored(),
        }
    }

    async fn answer(&self, tree_store: &mut TreeStore<'_>) -> Result<Answer> {
        Ok(match self {
            Self::IsLeaf(id) => {
                let children = Selection::Children(id.clone());
                let by_id = tree_store.selects_at_once(&children, Extent::default());
                let node = if by_id && !tree_store.ways.has_children.is_stored() {
                    Node {
                        id: id.clone(),
                        ..Node::default()
                    }
                } else {
                    tree_store.node(id).await?
                };
                Answer::Is(!tree_store.has_children(&node).await?)
            }
            Self::Depth(id) => {
                let node = tree_store.node(id).await?;
                Answer::Depth(if tree_store.tree.depth.is_some() {
                    usize::try_from(node.depth).unwrap_or_default()
                } else {
                    tree_store.lineage(&node).await?.len()
                })
            }
            Self::IsRoot(id) => {
                let node = tree_store.node(id).await?;
                Answer::Is(tree_store.parent_of(&node).await?.is_none())
            }
            Self::IsParent { node, child } => {
                let child = tree_store.node(child).await?;
                let parent = tree_store.parent_of(&child).await?;
                let parent = parent.as_ref().map(id_key).transpose()?;
                Answer::Is(parent == Some(id_key(node)?))
            }
            Self::IsAncestor { node, descendant } => {
                let own = id_key(node)?;
                let descendant = tree_store.node(descendant).await?;
                let mut is_ancestor = false;
                for ancestor in tree_store.lineage(&descendant).await? {
                    is_ancestor |= id_key(&ancestor)? == own;
                }
                Answer::Is(is_ancestor)
            }
            Self::AreSiblings(one, other) => {
                let (one, other) = tree_store.pair(one, other).await?;
                let parents = (
                    tree_store.parent_of(&one).await?,
                    tree_store.parent_of(&other).await?,
                );
                Answer::Is(match parents {
                    (None, None) => same_scope(one.scope.as_ref(), other.scope.as_ref()),
                    (Some(one), Some(other)) => id_key(&one)? == id_key(&other)?,
                    _ => false,
                })
            }
            Self::CommonAncestor(ids) => {
                let mut common: Option<Vec<Bson>> = None;
                for id in ids {
                    let node = tree_store.node(id).await?;
                    let mut path = tree_store.lineage(&node).await?;
                    path.push(node.id);
                    common = Some(match common {
                        None => path,
                        Some(before) => {
                            let pairs = before.into_iter().zip(path);
                            let same = pairs.take_while(|(one, other)| same_id(one, other));
                            same.map(|(one, _)| one).collect()
                        }
                    });
                }
                Answer::Node(common.and_then(|mut common| common.pop()))
            }
        })
    }
}

impl<'s, D, T> AskTree<'s, D, T> {
    /// Asks in this session, and in its transaction if it has one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// tree.move_to(node("Databases"), Position::root()).session(&mut session).await?;
    /// assert_eq!(tree.depth(node("Databases")).session(&mut session).await?, 0);
    /// assert_eq!(tree.depth(node("Databases")).await?, 2);
    /// session.commit_transaction().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    async fn run(self) -> Result<T> {
        let tree_store = self.tree_store;
        let question = self.question?;
        let answer = at_once!(
            tree_store,
            self.session,
            question.is_torn(&tree_store),
            |tree_store| { question.answer(tree_store) }
        )?;
        (self.read)(answer)
    }
}

impl<'s, D: DeclaredTree, T: Send + 'static> IntoFuture for AskTree<'s, D, T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<D, T> fmt::Debug for AskTree<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AskTree({:?})", self.question)
    }
}
