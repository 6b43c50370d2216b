//! Bulk loads: the kept fields of all nodes are computed in memory, and inserted in batches.

mod encoder;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::value::raw;

use self::encoder::{NewDocuments, encode_node};
use super::branch::Branch;
use super::journal::{Fence, Inserts, Unfinished, Writes};
use super::node::{id_key, raw_id_key, same_scope};
use super::places::{Shape, Visit};
use super::position::Target;
use super::queue::TurnOf;
use super::tree_store::{TreeStore, TreeWrite};
use super::{NodeId, Position, Tree};
use crate::collection::{Collection, encode_with_id};
use crate::error::{Code, Error, Result, TreeRefusal};
use crate::exec::Channel;
use crate::model::tree::{DeclaredTree, SingleParent};
use crate::model::{Document, ModelMeta};
use crate::store::Turn;
use crate::write::{Atomic, WriteSeveral};

/// MongoDB's code for a transaction that is larger than the cache of its storage engine.
const TRANSACTION_TOO_LARGE_FOR_CACHE: i32 = 388;

/// A bulk load, about to run: [`Tree::insert_branches`], [`Tree::insert_edges`]. It runs as [`ChangeTree`](super::ChangeTree) does.
///
/// A load of many nodes can take longer than the 60 seconds that MongoDB gives a transaction. Without a transaction
/// ([`non_atomic`](Atomic::non_atomic)), the nodes of the commands before a failed one stay, parents before their
/// children, and `check` reports the load until `repair` has completed their fields.
pub type InsertBranches<'s, D> = Atomic<'s, Branches<D>>;

/// The writes of an [`InsertBranches`].
pub struct Branches<D: DeclaredTree> {
    tree_store: TreeStore<'static>,
    pub(super) collection: Collection<D::Model>,
    nodes: Arc<Loading>,
    target: Target,
}

/// Encoded documents, and their parents.
#[derive(Debug, Default)]
pub(super) struct Loading {
    documents: Vec<RawDocumentBuf>,
    parents: Vec<Above>,
}

/// The parent of a loaded node.
#[derive(Debug, Clone)]
enum Above {
    Nothing,
    /// The node at this position.
    At(usize),
    /// The node with this id.
    Named(Bson),
}

impl<D: DeclaredTree> Tree<D> {
    /// Inserts whole branches as the last roots, or [at a place](InsertBranches::at), in batches.
    ///
    /// The kept fields are computed in memory, so a load is about as fast as `insert_many`. All nodes are in one tree: where
    /// it has a scope, their scopes are the same.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// use odm::tree::Branch;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "categories", tree(nested_sets))]
    /// struct Category {
    ///     #[serde(rename = "_id")]
    ///     id: String,
    ///     left: Left,
    ///     right: Right,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let new = |id: &str| Category { id: id.to_owned(), left: Left::default(), right: Right::default() };
    /// let books = Branch::leaf(new("Books"))
    ///     .with(Branch::leaf(new("Fiction")).with(new("Crime")))
    ///     .with(new("History"));
    /// let tree = db.tree::<Category>();
    /// assert_eq!(tree.insert_branches([books]).await?.inserted, 4);
    /// assert_eq!(tree.all().pre_order().ids().await?, ["Books", "Fiction", "Crime", "History"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](Error::tree_refusal): a node is too deep, or in another tree. An `_id` that is taken is
    /// [`is_duplicate_key`](Error::is_duplicate_key).
    pub fn insert_branches<'s>(
        &self,
        branches: impl IntoIterator<Item = Branch<D::Model>>,
    ) -> InsertBranches<'s, D>
    where
        D: SingleParent,
    {
        let mut loading = Loading::default();
        let mut error = None;
        for branch in branches {
            // By level: the position of the last node.
            let mut last: Vec<usize> = Vec::new();
            branch.visit(&mut |node, level| {
                last.truncate(level);
                let above = last.last().copied().map_or(Above::Nothing, Above::At);
                last.push(loading.documents.len());
                if let Err(failure) = loading.add(node, above) {
                    error.get_or_insert(failure);
                }
            });
        }
        self.loading(error.map_or(Ok(loading), Err))
    }

    /// Inserts nodes, each with the parent that it names, as [`insert_branches`](Self::insert_branches) does. Nodes without a parent are roots.
    /// Siblings have the order in which they come; a parent may come after its children.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let edges = [(new("Music"), None), (new("Scores"), Some(node("Music")))];
    /// tree.insert_edges(edges).await?;
    /// assert_eq!(tree.children(node("Music")).ids().await?, ["Scores"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](Error::tree_refusal): a parent is not among the nodes, or parents lead back to a node.
    pub fn insert_edges<'s, P: NodeId<D::Model>>(
        &self,
        nodes: impl IntoIterator<Item = (D::Model, Option<P>)>,
    ) -> InsertBranches<'s, D>
    where
        D: SingleParent,
    {
        let mut loading = Loading::default();
        let added = nodes.into_iter().try_for_each(|(node, parent)| {
            let parent = parent.map(NodeId::stored_id).transpose()?;
            loading.add(&node, parent.map_or(Above::Nothing, Above::Named))
        });
        self.loading(added.map(|()| loading))
    }

    fn loading<'s>(&self, nodes: Result<Loading>) -> InsertBranches<'s, D> {
        let tree_store = self.tree_store();
        let writes = nodes.map(|nodes| Branches {
            tree_store,
            nodes: Arc::new(nodes),
            collection: self.collection.clone(),
            target: Target::LAST_ROOT,
        });
        Atomic::new(writes, D::Model::model())
    }
}

impl Loading {
    fn add<M: Document>(&mut self, node: &M, above: Above) -> Result<()> {
        let (document, _) = encode_with_id(node)?;
        self.documents.push(document);
        self.parents.push(above);
        Ok(())
    }

    /// Encoded documents, each the parent of the next.
    pub(super) fn chain(documents: &[RawDocumentBuf]) -> Arc<Self> {
        let below = (0..documents.len()).map(Above::At);
        Arc::new(Self {
            documents: documents.to_vec(),
            parents: std::iter::once(Above::Nothing)
                .chain(below)
                .take(documents.len())
                .collect(),
        })
    }

    /// The id of the last document.
    pub(super) fn last_id(&self) -> Result<Option<Bson>> {
        let last = self.documents.len().checked_sub(1);
        last.map(|position| self.owned_id(position)).transpose()
    }

    fn owned_id(&self, position: usize) -> Result<Bson> {
        Bson::try_from(self.id(position)).map_err(Error::encode)
    }

    async fn run(
        self: &Arc<Self>,
        tree_store: &mut TreeStore<'_>,
        target: &Target,
    ) -> Result<TreeWrite> {
        let Some(first) = self.documents.first() else {
            return Ok(TreeWrite::default());
        };
        let scope = tree_store.scope_of(first)?;
        let fence = tree_store.fence(scope.as_ref()).await?;
        self.insert(tree_store, fence, target).await
    }

    /// Inserts the nodes, behind the fence of their tree.
    pub(super) async fn insert(
        self: &Arc<Self>,
        tree_store: &mut TreeStore<'_>,
        fence: Fence,
        target: &Target,
    ) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        let Some(first) = self.documents.first() else {
            return Ok(done);
        };
        let scope = tree_store.scope_of(first)?;
        self.check(tree_store, scope.as_ref())?;
        let (shape, visits) = self.shape(tree_store)?;
        let placement = tree_store.placement(target, scope.as_ref(), None).await?;
        for visit in &visits {
            tree_store.check_level(placement.lineage.len() + visit.level)?;
        }
        let roots = shape.roots.iter().map(|root| self.owned_id(*root));
        let roots = roots.collect::<Result<Vec<_>>>()?;
        let count = self.documents.len();
        let record = || Unfinished::new("load", roots.first().unwrap_or(&Bson::Null));
        let mut writes = Writes::new(tree_store.tree, fence, record());
        let opened = i64::try_from(count).unwrap_or(i64::MAX);
        tree_store.make_room(&mut writes, &placement, &roots, opened);
        let mut encoders = vec![tree_store.node_encoder(Arc::new(shape), &visits, &placement)?];
        let mut others = Vec::new();
        for tree in tree_store.others() {
            let mut other = tree_store.other(tree);
            let scope = other.scope_of(first)?;
            self.check(&other, scope.as_ref())?;
            let fence = other.fence(scope.as_ref()).await?;
            let placement = other.last_root(scope.as_ref()).await?;
            let shape = Shape::roots(count);
            let visits = shape.visits();
            encoders.push(other.node_encoder(Arc::new(shape), &visits, &placement)?);
            others.push(Writes::new(tree, fence, record()));
        }
        let nodes = Arc::clone(self);
        // Parents first, so that each part of a load that stops is a tree.
        let visits = visits.into_iter().enumerate();
        let documents = visits.filter_map(move |(number, visit)| {
            encode_node(&mut encoders, &*nodes, (&visit, number)).transpose()
        });
        writes.insert = Inserts::new(count, documents);
        others.insert(0, writes);
        tree_store.run_writes(others, &mut done).await?;
        Ok(done)
    }

    /// Refuses ids that the tree could not refer to, and nodes of several trees.
    fn check(&self, tree_store: &TreeStore<'_>, scope: Option<&Bson>) -> Result<()> {
        if tree_store.checks_ids() {
            for position in 0..self.documents.len() {
                tree_store.check_id(&self.owned_id(position)?)?;
            }
        }
        let Some(field) = tree_store.tree.scope else {
            return Ok(());
        };
        for (position, document) in self.documents.iter().enumerate() {
            if !same_scope(tree_store.scope_of(document)?.as_ref(), scope) {
                let id = self.owned_id(position)?;
                return Err(tree_store.refused(
                    TreeRefusal::OtherTree,
                    format!("the nodes are in different trees: {id} has another `{field}`"),
                ));
            }
        }
        Ok(())
    }

    /// The shape of the nodes, and the nodes in pre-order.
    fn shape(&self, tree_store: &TreeStore<'_>) -> Result<(Shape, Vec<Visit>)> {
        let parents = self.parents(tree_store)?;
        let shape = Shape::of_parents(&parents);
        let visits = shape.visits();
        for visit in &visits {
            let named = parents.get(visit.position).copied().flatten();
            if visit.parent != named {
                let id = self.owned_id(visit.position)?;
                return Err(tree_store.refused(
                    TreeRefusal::OwnSubtree,
                    format!("the parents of the node {id} lead back to it"),
                ));
            }
        }
        Ok((shape, visits))
    }

    /// The position of each node's parent.
    fn parents(&self, tree_store: &TreeStore<'_>) -> Result<Vec<Option<usize>>> {
        let mut positions = HashMap::new();
        if self.parents.iter().any(Above::is_named) {
            let ids = (0..self.documents.len()).map(|at| (raw_id_key(self.id(at)), at));
            positions = ids.collect();
        }
        let mut parents = Vec::with_capacity(self.documents.len());
        // Siblings often come one after the other.
        let mut last: Option<(&Bson, usize)> = None;
        for above in &self.parents {
            let parent = match (above, last) {
                (Above::Nothing, _) => None,
                (Above::At(position), _) => Some(*position),
                (Above::Named(id), Some((known, position))) if known == id => Some(position),
                (Above::Named(id), _) => {
                    let position = positions.get(&id_key(id)?).copied();
                    let position = position.ok_or_else(|| {
                        tree_store.refused(
                            TreeRefusal::NotFound,
                            format!("the parent {id} is not among the nodes that are loaded"),
                        )
                    })?;
                    last = Some((id, position));
                    Some(position)
                }
            };
            parents.push(parent);
        }
        Ok(parents)
    }
}

impl Above {
    fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }
}

impl NewDocuments for Loading {
    fn document(&self, position: usize) -> Option<&RawDocumentBuf> {
        self.documents.get(position)
    }

    fn id(&self, position: usize) -> RawBsonRef<'_> {
        let document = self.documents.get(position);
        let id = document.and_then(|document| raw::get(document, "_id"));
        id.unwrap_or(RawBsonRef::Null)
    }
}

impl<D: DeclaredTree> InsertBranches<'_, D> {
    /// Puts the branches at this place, in their order, instead of after the last root.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(materialized_path, order = rank))]
    /// # struct Category { #[serde(rename = "_id")] id: String, path: Materialized<Category>, rank: Rank }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let new = |id: &str| Category { id: id.to_owned(), path: Materialized::default(), rank: Rank::default() };
    /// use odm::tree::{Branch, Position};
    ///
    /// let tree = db.tree::<Category>();
    /// tree.insert_branches([Branch::leaf(new("Books")).with(new("Fiction"))]).await?;
    /// let programming = Branch::leaf(new("Programming")).with(new("Databases"));
    /// tree.insert_branches([programming]).at(Position::child_of(Ref::from("Books"))).await?;
    /// let ids = tree.all().pre_order().ids().await?;
    /// assert_eq!(ids, ["Books", "Fiction", "Programming", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(mut self, position: Position<D>) -> Self {
        self.writes = self.writes.and_then(|writes| {
            let target = position.target;
            Ok(Branches {
                target: target.map_err(|error| error.with_model(writes.tree_store.model.name))?,
                ..writes
            })
        });
        self
    }
}

impl<D: DeclaredTree> Branches<D> {
    /// The nodes, before the tree has written its fields in them.
    pub(super) fn documents(&self) -> &[RawDocumentBuf] {
        &self.nodes.documents
    }

    /// Inserts the documents, which others may have filled.
    pub(super) async fn insert(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<TreeWrite> {
        let nodes = Arc::new(Loading {
            documents,
            parents: self.nodes.parents.clone(),
        });
        let mut tree_store = self.tree_store.on(channel);
        nodes.run(&mut tree_store, &self.target).await
    }
}

impl<D: DeclaredTree> WriteSeveral for Branches<D> {
    type Done = TreeWrite;

    fn model(&self) -> &'static ModelMeta {
        self.tree_store.model
    }

    fn channel(&self) -> Channel<'static> {
        self.tree_store.channel.in_session(None)
    }

    async fn done(&self, _in_session: bool) -> Result<Option<TreeWrite>> {
        let is_empty = self.nodes.documents.is_empty();
        Ok(is_empty.then(TreeWrite::default))
    }

    async fn turn(&self) -> Result<Turn> {
        let Some(first) = self.nodes.documents.first() else {
            return Ok(None);
        };
        let of = TurnOf::Scope(self.tree_store.scope_of(first)?);
        self.tree_store.in_session(None).turn(of).await
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<TreeWrite> {
        let mut tree_store = self.tree_store.on(channel);
        self.nodes.run(&mut tree_store, &self.target).await
    }

    fn explain(&self, error: Error) -> Error {
        self.tree_store.beyond_cache(error)
    }
}

impl TreeStore<'_> {
    /// Says what to do where one transaction does not fit the cache of the deployment: deep arrays of ancestors and
    /// their index grow with the square of the depth.
    fn beyond_cache(&self, error: Error) -> Error {
        if error.code().map(Code::number) != Some(TRANSACTION_TOO_LARGE_FOR_CACHE) {
            return error;
        }
        self.refused(
            TreeRefusal::TooLarge,
            "the nodes do not fit one transaction in the cache of the deployment, and nothing was loaded: load them `non_atomic()`, or in parts",
        )
    }
}

impl<D: DeclaredTree> fmt::Debug for Branches<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InsertBranches({})", self.tree_store.collection())
    }
}
