//! `check`: finds where the kept fields of a tree contradict each other.

mod cycles;
mod damages;
mod graph;
mod repair;
mod survey;

use std::fmt;

use bson::{DateTime, Document};
use futures_core::future::BoxFuture;

use self::damages::Damages;
pub(crate) use self::repair::repair_tree;
pub(super) use self::repair::statement;
use super::Tree;
use super::at_once::{Reads, at_once};
use super::node::Node;
use super::tree_store::TreeStore;
use crate::error::Result;
use crate::model::tree::DeclaredTree;
use crate::model::{ModelMeta, TreeMeta};
use crate::store::Store;
use crate::write::{Damage, Progress, Report};

/// What is wrong with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DamageKind {
    /// The parent does not exist.
    Orphan,
    /// The node is its own ancestor.
    Cycle,
    /// The array of ancestors is not that of the parent and the parent.
    WrongAncestors,
    /// The path is not a list of ids between separators.
    MalformedPath,
    /// The path is not that of the parent and the parent.
    WrongPath,
    /// The last ancestor, in the array or in the path, does not exist.
    MissingAncestor,
    /// The depth is not the number of ancestors.
    WrongDepth,
    /// The bounds are not left before right, or cross those of another node.
    OverlappingBounds,
    /// Numbers are missing between the bounds.
    GappedBounds,
    /// Two bounds are the same number.
    DuplicateBounds,
    /// Two patterns of the tree give the node different parents.
    Disagreement,
    /// A listed child does not exist.
    MissingChild,
    /// Several nodes list the node as their child, and the tree is not a graph.
    SeveralParents,
    /// The number of children or of descendants is wrong.
    WrongCount,
    /// Siblings have the same rank.
    DuplicateRank,
    /// The rank is not one that the tree wrote.
    InvalidRank,
    /// The list of children lacks one, has one twice or one of another node, or is not in the order of their ranks.
    WrongChildren,
    /// A field that the tree keeps is missing.
    MissingField,
    /// A field that the tree keeps has a value of another type, such as a double for a number.
    WrongType,
    /// The node and its parent are in different trees.
    MixedScopes,
    /// A change of the node without a transaction has not ended: it still runs, or it failed.
    Unfinished,
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Orphan => "orphan",
            Self::Cycle => "cycle of parents",
            Self::WrongAncestors => "wrong ancestors",
            Self::MalformedPath => "malformed path",
            Self::WrongPath => "wrong path",
            Self::MissingAncestor => "missing ancestor",
            Self::WrongDepth => "wrong depth",
            Self::OverlappingBounds => "overlapping bounds",
            Self::GappedBounds => "gap in the bounds",
            Self::DuplicateBounds => "duplicate bounds",
            Self::Disagreement => "disagreement of fields",
            Self::MissingChild => "missing child",
            Self::SeveralParents => "several parents",
            Self::WrongCount => "wrong count",
            Self::DuplicateRank => "duplicate rank",
            Self::InvalidRank => "invalid rank",
            Self::WrongChildren => "wrong list of children",
            Self::MissingField => "missing field",
            Self::WrongType => "wrong type",
            Self::MixedScopes => "mixed scopes",
            Self::Unfinished => "unfinished change",
        })
    }
}

/// Something wrong with one node.
pub type TreeDamage = Damage<DamageKind>;

/// The report of [`Tree::check`].
pub type TreeReport = Report<DamageKind>;

/// A check about to run: [`Tree::check`].
#[must_use = "nothing is read until it is awaited"]
pub struct CheckTree<'s> {
    tree_store: TreeStore<'static>,
    progress: Progress<'s>,
    /// Changes that have begun later may still run.
    begun_before: Option<DateTime>,
}

impl<D: DeclaredTree> Tree<D> {
    /// Compares the kept fields of every node with each other, and reports what contradicts them.
    ///
    /// A node is reported for what is wrong with its own fields: not the children of a node with a wrong depth, and not
    /// the parent of one with a wrong count. [`repair`](Self::repair) plans writes for exactly the trees with damage.
    ///
    /// The kept fields of all nodes are in memory meanwhile, some hundred bytes for each. What seems to be damaged is read once
    /// more, at one time where the deployment has transactions, so that a change while it runs is not reported. A change without
    /// a transaction that is not complete is.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(parent_references))]
    /// # struct Category { #[serde(rename = "_id")] id: String, parent: Parent<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// use odm::tree::DamageKind;
    ///
    /// let tree = db.tree::<Category>();
    /// let raw = db.run_command(doc! {"insert": "categories", "documents": [{"_id": "dbm", "parent": "Databases"}]});
    /// raw.await?;
    /// let report = tree.check().await?;
    /// assert_eq!(report.listed[0].kind, DamageKind::Orphan);
    /// # Ok(())
    /// # }
    /// ```
    pub fn check<'s>(&self) -> CheckTree<'s> {
        CheckTree {
            tree_store: self.tree_store(),
            progress: Progress::default(),
            begun_before: None,
        }
    }
}

impl<'s> CheckTree<'s> {
    /// Calls `report` with the number of nodes that were read, after each chunk.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let mut read = 0;
    /// tree.check().on_progress(|nodes| read = nodes).await?;
    /// assert_eq!(read, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(u64) + Send + 's) -> Self {
        self.progress = Progress::to(report);
        self
    }

    async fn run(mut self) -> Result<TreeReport> {
        let nodes = self.tree_store.read_all(&mut self.progress).await?;
        let mut report = self.tree_store.compare(&nodes)?;
        drop(nodes);
        if !report.is_sound() {
            report = self.tree_store.look_again(report).await?;
        }
        for found in self.tree_store.unfinished().await? {
            if self
                .begun_before
                .is_some_and(|time| found.fence.begun() > time)
            {
                continue;
            }
            let detail = format!("the {} of this node is not complete", found.what);
            let node = &found.record.node;
            report.add(node, DamageKind::Unfinished, detail);
        }
        Ok(report)
    }
}

impl TreeStore<'_> {
    /// Reads all nodes, and reports how many there are so far.
    async fn read_all(&self, progress: &mut Progress<'_>) -> Result<Vec<Node>> {
        let mut nodes = Vec::new();
        let mut cursor = self.open(Document::new(), self.pre_order_sort()).await?;
        while let Some(document) = cursor.next().await {
            let document = document.map_err(|error| error.with_model(self.model.name))?;
            nodes.push(Node::read(self.tree, document)?);
            progress.read(nodes.len() as u64);
        }
        progress.end(nodes.len() as u64);
        Ok(nodes)
    }

    /// Reads the tree again at one time, where the deployment has transactions: a change between two reads looks like damage.
    async fn look_again(&self, first: TreeReport) -> Result<TreeReport> {
        let tree_store = self;
        if tree_store.store().transactions().await.is_none() {
            let mut tree_store = tree_store.in_session(None);
            let sort = tree_store.pre_order_sort();
            let nodes = tree_store.nodes(Document::new(), sort, None).await?;
            let mut second = tree_store.compare(&nodes)?;
            second.keep_only(|damage| first.listed.iter().any(|other| other.is_same(damage)));
            return Ok(second);
        }
        at_once!(tree_store, None, true, |tree_store| async {
            let sort = tree_store.pre_order_sort();
            let nodes = tree_store.nodes(Document::new(), sort, None).await?;
            tree_store.compare(&nodes)
        })
    }

    /// Compares the kept fields of all nodes.
    fn compare(&self, nodes: &[Node]) -> Result<TreeReport> {
        let mut report = TreeReport {
            read: nodes.len() as u64,
            ..TreeReport::default()
        };
        if self.tree.is_graph {
            self.check_graph(nodes, &mut report)?;
        } else {
            let survey = self.survey(nodes)?;
            Damages::report(self, nodes, &survey, &mut report)?;
        }
        Ok(report)
    }
}

/// Checks a tree of a model. Changes without a transaction are reported as unfinished if they have begun before this time.
pub(crate) async fn check_tree(
    store: &Store,
    model: &'static ModelMeta,
    tree: &'static TreeMeta,
    begun_before: DateTime,
) -> Result<TreeReport> {
    let check = CheckTree {
        tree_store: TreeStore::of(store, model, tree),
        progress: Progress::default(),
        begun_before: Some(begun_before),
    };
    check.run().await
}

impl<'s> IntoFuture for CheckTree<'s> {
    type Output = Result<TreeReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for CheckTree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckTree({:?})", &*self.tree_store.collection())
    }
}
