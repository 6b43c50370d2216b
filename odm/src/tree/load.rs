//! Bulk loads: the kept fields of all nodes are computed in memory, and inserted in batches.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use bson::Bson;
use bson::raw::{RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;

use super::arrange::Shape;
use super::branch::Branch;
use super::change::with_fields;
use super::forest::{Forest, TreeWrite, within};
use super::node::{Node, id_key};
use super::position::Target;
use super::unfinished::Unfinished;
use super::writes::{self, Writes};
use super::{NodeId, Position, Tree};
use crate::collection::joint::{Place, joint};
use crate::collection::transaction::Tries;
use crate::collection::{Db, TransactionOptions, encode_with_id};
use crate::error::{Error, Result, TreeRefusal};
use crate::model::tree::{DeclaredTree, SingleParent};
use crate::store::Session;

/// A bulk load, about to run: [`Tree::load`], [`Tree::load_edges`]. It runs as [`ChangeTree`](super::ChangeTree) does.
#[must_use = "nothing is loaded until it is awaited"]
pub struct LoadTree<'s, D> {
    forest: Forest,
    nodes: Result<Loading>,
    target: Result<Target>,
    session: Option<&'s mut Session>,
    non_atomic: bool,
    of: PhantomData<fn() -> D>,
}

/// Encoded documents, their ids, and the ids of their parents.
#[derive(Debug, Default)]
pub(super) struct Loading {
    documents: Vec<RawDocumentBuf>,
    ids: Vec<Bson>,
    parents: Vec<Option<Bson>>,
}

impl<D: DeclaredTree> Tree<D> {
    /// Inserts whole branches as the last roots, or [at a place](LoadTree::at), in batches.
    ///
    /// The kept fields are computed in memory, so a load is about as fast as `insert_many`. All nodes are in one tree: where
    /// it has a scope, their scopes are the same.
    ///
    /// ```
    /// # use odm::prelude::*;
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
    /// assert_eq!(tree.load([books]).await?.inserted, 4);
    /// assert_eq!(tree.all().pre_order().ids().await?, ["Books", "Fiction", "Crime", "History"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](Error::tree_refusal): a node is too deep, or in another tree. An `_id` that is taken is
    /// [`is_duplicate_key`](Error::is_duplicate_key).
    pub fn load<'s>(&self, branches: impl IntoIterator<Item = Branch<D::Model>>) -> LoadTree<'s, D>
    where
        D: SingleParent,
    {
        let mut loading = Loading::default();
        let mut error = None;
        for branch in branches {
            // By level: the id of the last node.
            let mut last: Vec<Bson> = Vec::new();
            branch.visit(&mut |node, level| {
                last.truncate(level);
                match loading.add(node, last.last().cloned()) {
                    Ok(id) => last.push(id),
                    Err(failure) => {
                        error.get_or_insert(failure);
                    }
                }
            });
        }
        self.loading(error.map_or(Ok(loading), Err))
    }

    /// Inserts nodes, each with the parent that it names, as [`load`](Self::load) does. Nodes without a parent are roots.
    /// Siblings have the order in which they come; a parent may come after its children.
    ///
    /// # Errors
    ///
    /// [`tree_refusal`](Error::tree_refusal): a parent is not among the nodes, or parents lead back to a node.
    pub fn load_edges<'s, P: NodeId<D::Model>>(
        &self,
        nodes: impl IntoIterator<Item = (D::Model, Option<P>)>,
    ) -> LoadTree<'s, D>
    where
        D: SingleParent,
    {
        let mut loading = Loading::default();
        let added = nodes.into_iter().try_for_each(|(node, parent)| {
            let parent = parent.map(NodeId::stored_id).transpose()?;
            loading.add(&node, parent).map(drop)
        });
        self.loading(added.map(|()| loading))
    }

    fn loading<'s>(&self, nodes: Result<Loading>) -> LoadTree<'s, D> {
        LoadTree {
            forest: self.forest(),
            nodes,
            target: Ok(Target::LAST_ROOT),
            session: None,
            non_atomic: false,
            of: PhantomData,
        }
    }
}

impl Loading {
    fn add<M: crate::model::Document>(&mut self, node: &M, parent: Option<Bson>) -> Result<Bson> {
        let (document, _) = encode_with_id(node)?;
        let id = encoded_id(&document)?;
        self.documents.push(document);
        self.ids.push(id.clone());
        self.parents.push(parent);
        Ok(id)
    }

    /// Encoded documents, each the parent of the next.
    pub(super) fn chain(documents: &[RawDocumentBuf]) -> Result<Self> {
        let mut chain = Self::default();
        for document in documents {
            let parent = chain.last_id();
            chain.documents.push(document.clone());
            chain.ids.push(encoded_id(document)?);
            chain.parents.push(parent);
        }
        Ok(chain)
    }

    /// The id of the last document.
    pub(super) fn last_id(&self) -> Option<Bson> {
        self.ids.last().cloned()
    }

    async fn run(
        &self,
        forest: &Forest,
        target: &Target,
        mut session: Option<&mut Session>,
    ) -> Result<TreeWrite> {
        let Some(first) = self.documents.first() else {
            return Ok(TreeWrite::default());
        };
        let scope = forest.scope_of(first)?;
        forest.fence(within!(session), scope.as_ref()).await?;
        self.insert(forest, target, session).await
    }

    /// Inserts the nodes, behind the fence of their tree.
    pub(super) async fn insert(
        &self,
        forest: &Forest,
        target: &Target,
        mut session: Option<&mut Session>,
    ) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        let Some(first) = self.documents.first() else {
            return Ok(done);
        };
        let scope = forest.scope_of(first)?;
        let nodes = self.nodes(forest, scope.as_ref())?;
        let shape = self.shape(forest, &nodes)?;
        let spot = forest
            .spot(within!(session), target, scope.as_ref(), None)
            .await?;
        for visit in shape.visits() {
            forest.check_level(spot.lineage.len() + visit.level)?;
        }
        let roots = shape.roots.iter().filter_map(|root| nodes.get(*root));
        let roots: Vec<_> = roots.map(|root| root.id.clone()).collect();
        let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
        let record = Unfinished::new("load", roots.first().unwrap_or(&Bson::Null));
        let mut writes = Writes::new(forest, scope.as_ref(), record);
        forest.make_room(&mut writes, &spot, &roots, count);
        let start = forest.start_at(spot)?;
        let mut fields = forest.expected_fields(&nodes, &shape, &start)?;
        for other in forest.others() {
            let scope = other.scope_of(first)?;
            other.fence(within!(session), scope.as_ref()).await?;
            let spot = other.spot(within!(session), &Target::LAST_ROOT, scope.as_ref(), None);
            let start = other.start_at(spot.await?)?;
            let roots = other.expected_fields(&nodes, &Shape::roots(nodes.len()), &start)?;
            for (fields, more) in fields.iter_mut().zip(roots) {
                fields.extend(more);
            }
        }
        let documents = self.documents.iter().zip(fields);
        let documents = documents.map(|(document, fields)| with_fields(document, fields));
        let documents = documents.map(|document| document.map(Some));
        let mut documents = documents.collect::<Result<Vec<_>>>()?;
        // Parents first, so that each part of a load that stops is a tree.
        let visits = shape.visits().into_iter();
        let ordered = visits.filter_map(|visit| documents.get_mut(visit.position)?.take());
        writes.insert = ordered.collect();
        writes::run(vec![writes], session, &mut done).await?;
        Ok(done)
    }

    /// The ids and scopes of the nodes; the other kept fields are computed.
    fn nodes(&self, forest: &Forest, scope: Option<&Bson>) -> Result<Vec<Node>> {
        let mut nodes = Vec::with_capacity(self.documents.len());
        for (document, id) in self.documents.iter().zip(&self.ids) {
            forest.check_id(id)?;
            let own = forest.scope_of(document)?;
            if own.as_ref() != scope {
                return Err(forest.refused(
                    TreeRefusal::OtherTree,
                    format!(
                        "the nodes are in different trees: {id} has another `{}`",
                        forest.tree.scope.unwrap_or_default()
                    ),
                ));
            }
            nodes.push(Node {
                id: id.clone(),
                scope: own,
                ..Node::default()
            });
        }
        Ok(nodes)
    }

    fn shape(&self, forest: &Forest, nodes: &[Node]) -> Result<Shape> {
        let mut positions = HashMap::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            positions.insert(id_key(&node.id)?, position);
        }
        let mut parents = Vec::with_capacity(nodes.len());
        // Siblings often come one after the other.
        let mut last: (Option<&Bson>, Option<usize>) = (None, None);
        for parent in &self.parents {
            if let Some(id) = parent
                && last.0 != Some(id)
            {
                let position = positions.get(&id_key(id)?).copied();
                last = (
                    Some(id),
                    Some(position.ok_or_else(|| {
                        forest.refused(
                            TreeRefusal::NotFound,
                            format!("the parent {id} is not among the nodes that are loaded"),
                        )
                    })?),
                );
            }
            parents.push(parent.as_ref().and(last.1));
        }
        let shape = Shape::of_parents(&parents);
        for visit in shape.visits() {
            let named = parents.get(visit.position).copied().flatten();
            if visit.parent != named {
                let id = self.ids.get(visit.position).unwrap_or(&Bson::Null);
                return Err(forest.refused(
                    TreeRefusal::OwnSubtree,
                    format!("the parents of the node {id} lead back to it"),
                ));
            }
        }
        Ok(shape)
    }
}

fn encoded_id(document: &RawDocument) -> Result<Bson> {
    let id = document.get("_id").ok().flatten();
    let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
    Bson::try_from(id).map_err(Error::encode)
}

impl<'s, D: DeclaredTree> LoadTree<'s, D> {
    /// Puts the branches at this place, in their order, instead of after the last root.
    ///
    /// ```
    /// # use odm::prelude::*;
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
    /// tree.load([Branch::leaf(new("Books")).with(new("Fiction"))]).await?;
    /// let programming = Branch::leaf(new("Programming")).with(new("Databases"));
    /// tree.load([programming]).at(Position::child_of(Ref::from("Books".to_owned()))).await?;
    /// let ids = tree.all().pre_order().ids().await?;
    /// assert_eq!(ids, ["Books", "Fiction", "Programming", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(mut self, position: Position<D>) -> Self {
        self.target = position.target;
        self
    }

    /// Runs in the transaction of this session.
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Loads without a transaction. A load of many nodes can take longer than the 60 seconds that MongoDB gives a
    /// transaction. If a command fails, the nodes of the commands before it stay, parents before their children, and `check`
    /// reports the load until `repair` has completed their fields.
    pub fn non_atomic(mut self) -> Self {
        self.non_atomic = true;
        self
    }

    async fn run(self) -> Result<TreeWrite> {
        let forest = self.forest;
        let named = |error: Error| error.with_model(forest.model.name);
        let nodes = self.nodes.map_err(named)?;
        let target = self.target.map_err(named)?;
        let place = Place::new(self.session, self.non_atomic).map_err(named)?;
        joint!(place, forest.store, |session| nodes
            .run(&forest, &target, session))
    }
}

impl<'s, D: DeclaredTree> IntoFuture for LoadTree<'s, D> {
    type Output = Result<TreeWrite>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<D> fmt::Debug for LoadTree<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoadTree({})", self.forest.collection())
    }
}
