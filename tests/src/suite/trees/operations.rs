//! Operations on a sample tree that may stop in the middle, and what `check` and `repair` do about it.

use odm::bson::{Document as BsonDocument, doc};
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{Branch, DamageKind, TreeDamage, TreeDelete};

use super::models::TestTree;

/// The parent of each node; siblings in this order.
const SAMPLE: [(i32, i32); 9] = [
    (1, 0),
    (2, 1),
    (3, 1),
    (4, 1),
    (5, 2),
    (6, 2),
    (7, 5),
    (8, 0),
    (9, 8),
];

/// Changes of the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operation {
    InsertFirst,
    InsertLast,
    InsertBefore,
    InsertRoot,
    MoveDown,
    MoveUp,
    MoveToRoot,
    MoveAmongSiblings,
    Swap,
    SwapNeighbours,
    SwapSiblings,
    DeleteLeaf,
    Cascade,
    Adopt,
    AdoptAmongRoots,
    MakeRoots,
    Load,
    Rerank,
}

impl Operation {
    pub(super) const ALL: [Self; 18] = [
        Self::InsertFirst,
        Self::InsertLast,
        Self::InsertBefore,
        Self::InsertRoot,
        Self::MoveDown,
        Self::MoveUp,
        Self::MoveToRoot,
        Self::MoveAmongSiblings,
        Self::Swap,
        Self::SwapNeighbours,
        Self::SwapSiblings,
        Self::DeleteLeaf,
        Self::Cascade,
        Self::Adopt,
        Self::AdoptAmongRoots,
        Self::MakeRoots,
        Self::Load,
        Self::Rerank,
    ];

    /// Runs it in a transaction, or without one.
    pub(super) async fn run<D: TestTree>(self, tree: &Tree<D>, is_atomic: bool) -> odm::Result<()> {
        let node = Ref::<D::Model>::from;
        let place = match self {
            Self::InsertFirst => Position::first_child_of(node(2)),
            Self::InsertLast => Position::last_child_of(node(2)),
            Self::InsertBefore => Position::before(node(6)),
            Self::InsertRoot => Position::first_root(),
            Self::MoveDown => Position::first_child_of(node(9)),
            Self::MoveUp => Position::before(node(3)),
            Self::MoveAmongSiblings => Position::before(node(2)),
            _ => Position::root(),
        };
        let change = match self {
            Self::InsertFirst | Self::InsertLast | Self::InsertBefore | Self::InsertRoot => {
                let insert = tree.insert(D::node(20), place);
                let insert = if is_atomic {
                    insert
                } else {
                    insert.non_atomic()
                };
                return insert.await.map(drop);
            }
            Self::Load => {
                let leaf = |id| Branch::leaf(D::node(id));
                let inner = leaf(32).with(D::node(33));
                let branch = leaf(30).with(D::node(31)).with(inner);
                let load = tree.insert_branches([branch, leaf(40)]);
                let load = if is_atomic { load } else { load.non_atomic() };
                return load.await.map(drop);
            }
            Self::MoveDown | Self::MoveToRoot => tree.move_to(node(2), place),
            Self::MoveUp => tree.move_to(node(5), place),
            Self::MoveAmongSiblings => tree.move_to(node(4), place),
            Self::Swap => tree.swap(node(9), node(2)),
            Self::SwapNeighbours => tree.swap(node(2), node(3)),
            Self::SwapSiblings => tree.swap(node(4), node(2)),
            Self::DeleteLeaf => tree.delete(node(6)).policy(TreeDelete::Restrict).into(),
            Self::Cascade => tree.delete(node(2)).policy(TreeDelete::Cascade).into(),
            Self::Adopt => tree.delete(node(2)).policy(TreeDelete::Adopt).into(),
            Self::AdoptAmongRoots => tree.delete(node(1)).policy(TreeDelete::Adopt).into(),
            Self::MakeRoots => tree.delete(node(2)).policy(TreeDelete::MakeRoots).into(),
            Self::Rerank => tree.rerank_siblings(node(4)),
        };
        let change = if is_atomic {
            change
        } else {
            change.non_atomic()
        };
        change.await.map(drop)
    }
}

/// Stores the sample, with ranks that are not the shortest.
pub(super) async fn sample<D: TestTree>(db: &Db) -> Tree<D> {
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<D>();
    let edges = SAMPLE.map(|(id, parent)| {
        let parent = (parent != 0).then(|| Ref::<D::Model>::from(parent));
        (D::node(id), parent)
    });
    tree.insert_edges(edges).await.unwrap();
    // There and back.
    for [moved, next] in [[4, 3], [3, 4]] {
        let place = Position::before(Ref::<D::Model>::from(next));
        let moved = tree.move_to(Ref::<D::Model>::from(moved), place);
        moved.await.unwrap();
    }
    tree
}

/// The stored nodes and fences.
#[derive(Debug, Clone)]
pub(super) struct State {
    collection: &'static str,
    pub(super) nodes: Vec<BsonDocument>,
    fences: Vec<BsonDocument>,
}

const FENCES: &str = "odm_tree_fences";

impl State {
    pub(super) async fn read<M: Document>(db: &Db) -> Self {
        let collection = M::model().collection;
        let find = async |collection: &str| {
            let find = doc! {"find": collection, "sort": {"_id": 1}};
            db.run_command(find).all().await.unwrap()
        };
        Self {
            collection,
            nodes: find(collection).await,
            fences: find(FENCES).await,
        }
    }

    /// Puts everything back.
    pub(super) async fn restore(&self, db: &Db) {
        let nodes = (self.collection, &self.nodes);
        for (collection, documents) in [nodes, (FENCES, &self.fences)] {
            let delete = doc! {"delete": collection, "deletes": [{"q": {}, "limit": 0}]};
            db.run_command(delete).await.unwrap();
            if !documents.is_empty() {
                let insert = doc! {"insert": collection, "documents": documents};
                db.run_command(insert).await.unwrap();
            }
        }
    }
}

/// The ids in pre-order, with their levels.
pub(super) async fn shape<D: TestTree>(tree: &Tree<D>) -> Vec<(i32, usize)> {
    let nodes = tree.all().all().await.unwrap();
    let mut shape = Vec::new();
    for branch in tree.arrange(nodes).unwrap() {
        branch.visit(&mut |node, level| shape.push((*node.id(), level)));
    }
    shape
}

/// An operation, with the states before and after it.
pub(super) struct Scene<D: TestTree> {
    pub(super) operation: Operation,
    pub(super) tree: Tree<D>,
    pub(super) before: State,
    shape_before: Vec<(i32, usize)>,
    pub(super) after: State,
    shape_after: Vec<(i32, usize)>,
}

impl<D: TestTree> Scene<D> {
    pub(super) async fn new(db: &Db, tree: &Tree<D>, before: &State, operation: Operation) -> Self {
        before.restore(db).await;
        let shape_before = shape(tree).await;
        operation.run(tree, false).await.unwrap();
        let report = tree.check().await.unwrap();
        assert!(report.is_sound(), "{operation:?}: {report}");
        Self {
            operation,
            tree: tree.clone(),
            before: before.clone(),
            shape_before,
            after: State::read::<D::Model>(db).await,
            shape_after: shape(tree).await,
        }
    }

    /// The stored tree is that before or after the operation, or `check` reports what is wrong and `repair` makes one of
    /// the two of it.
    pub(super) async fn assess(&self, db: &Db, what: &str) {
        let what = format!("{:?}, {what}", self.operation);
        let state = State::read::<D::Model>(db).await;
        let report = self.tree.check().await.unwrap();
        if state.nodes != self.before.nodes && state.nodes != self.after.nodes {
            assert!(!report.is_sound(), "{what}: {:#?}", state.nodes);
        }
        let unfinished = |damage: &TreeDamage| damage.kind == DamageKind::Unfinished;
        if report.listed.iter().any(unfinished) {
            let refused = self.tree.insert(D::node(90), Position::root()).await;
            let refusal = refused.map(drop).unwrap_err().tree_refusal();
            assert_eq!(refusal, Some(TreeRefusal::Unfinished), "{what}");
        }
        let plan = self.tree.repair().await.unwrap();
        assert_eq!(plan.is_empty(), report.is_sound(), "{what}: {report}{plan}");
        let applied = plan.apply(Allow::WRITE).await.unwrap();
        assert!(applied.is_complete(), "{what}: {plan}\n{applied}");
        let report = self.tree.check().await.unwrap();
        assert!(report.is_sound(), "{what}, after {plan}: {report}");
        let again = self.tree.repair().await.unwrap();
        assert!(again.is_empty(), "{what}, after {plan}: {again}");
        let shape = shape(&self.tree).await;
        if self.operation == Operation::Load {
            // The nodes that were loaded stay, at their places.
            let mut rest = self.shape_after.iter();
            assert!(
                shape.iter().all(|node| rest.any(|other| other == node)),
                "{what}: {shape:?}"
            );
            assert!(shape.len() >= self.shape_before.len(), "{what}: {shape:?}");
            return;
        }
        assert!(
            shape == self.shape_before || shape == self.shape_after,
            "{what}: {shape:?} is neither {:?} nor {:?}, after {plan}{:#?}\n{:#?}",
            self.shape_before,
            self.shape_after,
            plan.commands().collect::<Vec<_>>(),
            state
        );
    }
}
