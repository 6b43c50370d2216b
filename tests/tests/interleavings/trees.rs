//! Changes of trees beside each other, as two processes make them: in transactions of their callers, which take no turns.

use std::fmt;

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{DeclaredTree, OrderedSiblings, SingleParent, TreeDelete};

use super::explorer::{Operation, operation};

/// A tree whose nodes can be made.
pub(crate) trait Nodes:
    SingleParent + OrderedSiblings + DeclaredTree<Model: Document<Id = i32>> + 'static
{
    fn node(id: i32) -> Self::Model;
}

macro_rules! nodes {
    ($model:ident($collection:literal, $($tree:tt)*) { $($field:ident: $ty:ty),* }) => {
        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(collection = $collection, tree($($tree)*))]
        pub(crate) struct $model {
            #[serde(rename = "_id")]
            id: i32,
            $($field: $ty,)*
        }

        impl Nodes for $model {
            fn node(id: i32) -> Self {
                Self { id, $($field: Default::default(),)* }
            }
        }
    };
}

nodes!(ByParent("by_parent", parent_references, order = rank) {
    parent: Parent<ByParent>, rank: Rank
});
nodes!(ByPath("by_path", materialized_path, parent = parent, order = rank) {
    path: Materialized<ByPath>, parent: Parent<ByPath>, rank: Rank
});
nodes!(ByBounds("by_bounds", nested_sets, parent = parent, count(descendants = below)) {
    left: Left, right: Right, parent: Parent<ByBounds>, below: NodeCount
});

/// The root 1, its children 2 and 3, and 4 below 2.
pub(crate) fn fill<N: Nodes>(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let plan = db.sync([N::Model::model()]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        let edges = [(1, None), (2, Some(1)), (3, Some(1)), (4, Some(2))];
        let edges = edges.map(|(id, parent)| (N::node(id), parent.map(Ref::<N::Model>::from)));
        db.tree::<N>().insert_edges(edges).await.unwrap();
    })
}

/// Changes of which any two meet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// Together with the next one, the nodes would be below each other.
    MoveTwoBelowThree,
    MoveThreeBelowTwo,
    MoveFourToTheRoots,
    InsertBelowTwo,
    DeleteTwoAndBelow,
    DeleteTwoAndAdopt,
}

impl Change {
    pub(crate) const ALL: [Self; 6] = [
        Self::MoveTwoBelowThree,
        Self::MoveThreeBelowTwo,
        Self::MoveFourToTheRoots,
        Self::InsertBelowTwo,
        Self::DeleteTwoAndBelow,
        Self::DeleteTwoAndAdopt,
    ];

    pub(crate) fn operation<N: Nodes>(self) -> Operation {
        operation(move |db| async move {
            let node = Ref::<N::Model>::from;
            let tree = db.tree::<N>();
            let ended = odm::transaction!(db, |tx| {
                let change = match self {
                    Self::MoveTwoBelowThree => {
                        tree.move_to(node(2), Position::last_child_of(node(3)))
                    }
                    Self::MoveThreeBelowTwo => {
                        tree.move_to(node(3), Position::last_child_of(node(2)))
                    }
                    Self::MoveFourToTheRoots => tree.move_to(node(4), Position::first_root()),
                    Self::InsertBelowTwo => {
                        let insert = tree.insert(N::node(9), Position::last_child_of(node(2)));
                        return insert.session(tx).await.map(drop);
                    }
                    Self::DeleteTwoAndBelow => {
                        tree.delete(node(2)).policy(TreeDelete::Cascade).into()
                    }
                    Self::DeleteTwoAndAdopt => {
                        tree.delete(node(2)).policy(TreeDelete::Adopt).into()
                    }
                };
                change.session(tx).await.map(drop)
            });
            match ended.await {
                // What the other has left does not allow the change.
                Err(error) if error.tree_refusal().is_some() => Ok(()),
                other => other,
            }
        })
    }
}

pub(crate) async fn is_sound<N: Nodes>(db: Db) -> bool {
    db.tree::<N>().check().await.unwrap().is_sound()
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
