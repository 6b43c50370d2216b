//! `check`: finds where the kept fields of a tree contradict each other.

mod bounds;
mod cycles;
mod nodes;

use std::fmt;

use bson::{Bson, Document};
use futures_core::future::BoxFuture;

use self::cycles::Edges;
use super::Tree;
use super::forest::Forest;
use super::node::Node;
use crate::error::Result;
use crate::model::tree::DeclaredTree;

/// How many nodes are compared with their parents at a time.
const CHUNK: usize = 1_000;

/// The most ids in the lists of the nodes that are compared at a time.
const MAX_LISTED_IDS: usize = 50_000;

/// The most damages that a report lists; it counts all of them.
const MAX_LISTED: usize = 10_000;

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
    /// Several nodes list the node as their child, and the tree is no graph.
    SeveralParents,
    /// The number of children or of descendants is wrong.
    WrongCount,
    /// Siblings have the same rank.
    DuplicateRank,
    /// The node and its parent are in different trees.
    MixedScopes,
    /// A change of the node without a transaction has not ended: it still runs, or it failed.
    Unfinished,
}

/// Something wrong with one node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Damage {
    /// The stored id of the node.
    pub id: Bson,
    /// What is wrong.
    pub kind: DamageKind,
    /// What is stored, and what was expected.
    pub detail: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}: {}", self.id, self.kind, self.detail)
    }
}

/// What [`Tree::check`] found.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TreeReport {
    /// How many nodes were read.
    pub nodes: u64,
    /// How many damages were found.
    pub damages: u64,
    /// The first 10,000 of them.
    pub listed: Vec<Damage>,
}

impl TreeReport {
    /// Whether nothing is wrong.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let report = tree.check().await?;
    /// assert!(report.is_sound(), "{report}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_sound(&self) -> bool {
        self.damages == 0
    }

    fn add(&mut self, id: &Bson, kind: DamageKind, detail: String) {
        self.damages += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(Damage {
                id: id.clone(),
                kind,
                detail,
            });
        }
    }
}

impl fmt::Display for TreeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} nodes, {} damages", self.nodes, self.damages)?;
        for damage in &self.listed {
            writeln!(f, "{damage}")?;
        }
        Ok(())
    }
}

/// A check about to run: [`Tree::check`].
#[must_use = "nothing is read until it is awaited"]
pub struct CheckTree<'s> {
    forest: Forest,
    progress: Option<Box<Progress<'s>>>,
}

/// A function that is called with the number of nodes that were read.
type Progress<'s> = dyn FnMut(u64) + Send + 's;

impl<D: DeclaredTree> Tree<D> {
    /// Compares the kept fields of every node with each other, and reports what contradicts them.
    ///
    /// It reads the nodes in chunks, each with the parents of its nodes, so its memory does not grow with the collection;
    /// except to find circles of parents, which takes about 60 bytes a node where nodes store no ancestors. It reads no snapshot:
    /// a change while it runs may be reported as damage.
    ///
    /// ```
    /// # use odm::prelude::*;
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
            forest: self.forest(),
            progress: None,
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
        self.progress = Some(Box::new(report));
        self
    }

    async fn run(mut self) -> Result<TreeReport> {
        let mut checker = Checker {
            forest: &self.forest,
            source: Source::of(&self.forest),
            report: TreeReport::default(),
            edges: Edges::default(),
        };
        let mut cursor = self.forest.open(Document::new(), None).await?;
        let mut chunk = Vec::new();
        let mut ids = 0;
        loop {
            let next = cursor.next().await;
            let ended = next.is_none();
            if let Some(document) = next {
                let document =
                    document.map_err(|error| error.with_model(self.forest.model.name))?;
                let node = Node::read(self.forest.tree, document)?;
                ids += node.children.len() + node.ancestors.len();
                chunk.push(node);
            }
            if chunk.len() == CHUNK || ids > MAX_LISTED_IDS || ended {
                ids = 0;
                checker.chunk(&std::mem::take(&mut chunk)).await?;
                if let Some(progress) = &mut self.progress {
                    progress(checker.report.nodes);
                }
            }
            if ended {
                break;
            }
        }
        checker.bounds().await?;
        checker.ranks().await?;
        checker.cycles().await?;
        for found in self.forest.unfinished().await? {
            let detail = format!("the {} of this node has not ended", found.what);
            let node = &found.record.node;
            checker.report.add(node, DamageKind::Unfinished, detail);
        }
        Ok(checker.report)
    }
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
        write!(f, "CheckTree({:?})", &*self.forest.collection())
    }
}

/// The field that says which node is the parent; the others are compared with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Parent,
    Ancestors,
    Path,
    Bounds,
    Children,
}

impl Source {
    pub(super) fn of(forest: &Forest) -> Self {
        let tree = forest.tree;
        if tree.parent.is_some() {
            Self::Parent
        } else if tree.ancestors.is_some() {
            Self::Ancestors
        } else if tree.path.is_some() {
            Self::Path
        } else if tree.bounds.is_some() {
            Self::Bounds
        } else {
            Self::Children
        }
    }
}

struct Checker<'f> {
    forest: &'f Forest,
    source: Source,
    report: TreeReport,
    edges: Edges,
}
