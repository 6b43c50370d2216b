//! Reads beside writers: what they return of a subtree that nobody changes inside.
//!
//! `ODM_TREE_OPERATIONS` is the number of rounds of reads in each case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use odm::prelude::*;
use odm::tree::prelude::*;

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByBoundsInShops, ByChildren, ByParent, ByPath,
    TestTree, TwoPatterns,
};
use crate::case::cases;

cases![
    reads_of_parent_references_are_whole_beside_writers,
    reads_of_child_references_are_whole_beside_writers,
    reads_of_ancestors_are_whole_beside_writers,
    reads_of_paths_are_whole_beside_writers,
    reads_of_bounds_are_whole_beside_writers,
    reads_of_bounds_in_scopes_are_whole_beside_writers,
    reads_of_bounds_with_parents_are_whole_beside_writers,
    reads_of_two_patterns_are_whole_beside_writers,
    reads_of_all_patterns_are_whole_beside_writers,
    reads_in_a_transaction_see_its_changes,
];

async fn reads_of_parent_references_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByParent>(db).await;
}

async fn reads_of_child_references_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByChildren>(db).await;
}

async fn reads_of_ancestors_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByAncestors>(db).await;
}

async fn reads_of_paths_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByPath>(db).await;
}

async fn reads_of_bounds_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByBounds>(db).await;
}

async fn reads_of_bounds_in_scopes_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByBoundsInShops>(db).await;
}

async fn reads_of_bounds_with_parents_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByBoundsAndParent>(db).await;
}

async fn reads_of_two_patterns_are_whole_beside_writers(db: &Db) {
    beside_writers::<TwoPatterns>(db).await;
}

async fn reads_of_all_patterns_are_whole_beside_writers(db: &Db) {
    beside_writers::<ByAll>(db).await;
}

/// The tree: the subtree of 10 moves between 1 and 2, and other nodes come and go before it.
///
/// ```text
/// 1          2
///   10
///     11
///     12
///       13
///       14
/// ```
async fn plant<D: TestTree>(db: &Db) -> Tree<D> {
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<D>();
    for (id, parent) in [
        (1, 0),
        (2, 0),
        (10, 1),
        (11, 10),
        (12, 10),
        (13, 12),
        (14, 12),
    ] {
        let position = match parent {
            0 => Position::root(),
            parent => Position::child_of(Ref::from(parent)),
        };
        tree.insert(D::node(id), position).await.unwrap();
    }
    tree
}

async fn write<D: TestTree>(tree: &Tree<D>, is_over: &AtomicBool) {
    let node = Ref::<D::Model>::from;
    for round in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let id = 100 + round % 7;
        let first = Position::first_child_of(node(1));
        tree.insert(D::node(id), first).await.unwrap();
        let to = Position::child_of(node(1 + (round + 1) % 2));
        tree.move_to(node(10), to).await.unwrap();
        if round % 3 == 2 {
            tree.swap(node(1), node(2)).await.unwrap();
        }
        tree.delete(node(id)).await.unwrap();
    }
}

/// The reads of one round whose answers are wrong.
async fn read<D: TestTree>(tree: &Tree<D>) -> Vec<&'static str> {
    let node = Ref::<D::Model>::from;
    let mut wrong = Vec::new();
    let mut expect = |what: &'static str, is_right: bool| {
        if !is_right {
            wrong.push(what);
        }
    };
    let above = |ids: &[i32]| matches!(ids, [1 | 2, rest @ ..] if rest == [10, 12]);
    let mut ids = tree.descendants(node(10)).ids().await.unwrap();
    ids.sort_unstable();
    expect("descendants", ids == [11, 12, 13, 14]);
    let ids = tree.descendants(node(10)).pre_order().ids().await.unwrap();
    expect("pre-order", ids == [11, 12, 13, 14]);
    let count = tree.descendants(node(10)).count().await.unwrap();
    expect("count", count == 4);
    let levels = tree.descendants(node(10)).max_depth(1);
    let mut ids = levels.ids().await.unwrap();
    ids.sort_unstable();
    expect("one level", ids == [11, 12]);
    let branches = tree.descendants(node(10)).with_self().branches();
    let branches = branches.await.unwrap();
    expect(
        "branches",
        branches.len() == 1 && branches.iter().all(|branch| branch.len() == 5),
    );
    let counts = tree.descendants(node(10)).counts_by_depth().await.unwrap();
    let counts = counts.into_iter().collect::<Vec<_>>();
    expect("counts by depth", counts == [(2, 2), (3, 2)]);
    let ids = tree.children(node(12)).ids().await.unwrap();
    expect("children", ids == [13, 14]);
    let ids = tree.siblings(node(13)).ids().await.unwrap();
    expect("siblings", ids.contains(&14) && !ids.contains(&12));
    let ids = tree.next_sibling(node(13)).ids().await.unwrap();
    expect("next sibling", ids == [14]);
    let ids = tree.last_sibling(node(13)).ids().await.unwrap();
    expect("last sibling", ids == [14]);
    let ids = tree.parent(node(13)).ids().await.unwrap();
    expect("parent", ids == [12]);
    let ids = tree.ancestors(node(13)).ids().await.unwrap();
    expect("ancestors", above(&ids));
    let nodes = tree.ancestors(node(13)).all().await.unwrap();
    expect("ancestors' documents", nodes.len() == 3);
    let ids = tree.path(node(12)).ids().await.unwrap();
    expect("path", above(&ids));
    let mut ids = tree.at_depth(3).ids().await.unwrap();
    ids.sort_unstable();
    expect("a depth", ids == [13, 14]);
    let found = tree.roots().ids().await.unwrap();
    expect(
        "roots",
        found.len() == 2 && found.contains(&1) && found.contains(&2),
    );
    let ids = tree.leaves().ids().await.unwrap();
    expect("leaves", [11, 13, 14].iter().all(|id| ids.contains(id)));
    expect("depth", tree.depth(node(13)).await.unwrap() == 3);
    expect("is leaf", !tree.is_leaf(node(12)).await.unwrap());
    expect("is root", !tree.is_root(node(10)).await.unwrap());
    let is_parent = tree.is_parent_of(node(12), node(13));
    expect("is parent", is_parent.await.unwrap());
    let is_above = tree.is_ancestor_of(node(10), node(14));
    expect("is ancestor", is_above.await.unwrap());
    let are_siblings = tree.are_siblings(node(11), node(12));
    expect("are siblings", are_siblings.await.unwrap());
    let common = tree.lowest_common_ancestor([node(11), node(14)]);
    expect("common ancestor", common.await.unwrap() == Some(10));
    wrong
}

async fn beside_writers<D: TestTree>(db: &Db) {
    let tree = plant::<D>(db).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let set = std::env::var("ODM_TREE_OPERATIONS").ok();
    let rounds: usize = set.map_or(15, |set| set.parse().unwrap());
    let reads = async {
        let mut wrong = Vec::new();
        for _ in 0..rounds {
            wrong.extend(read(&tree).await);
        }
        is_over.store(true, Ordering::Relaxed);
        wrong
    };
    let wrong = if db.capability().await.unwrap().durable {
        futures::join!(reads, write(&tree, &is_over)).0
    } else {
        // The engine answers at once, so that tasks of one thread don't meet.
        let (tree, is_over) = (tree.clone(), Arc::clone(&is_over));
        let writer = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(write(&tree, &is_over));
        });
        let wrong = reads.await;
        writer.join().unwrap();
        wrong
    };
    assert!(wrong.is_empty(), "{} wrong: {wrong:?}", wrong.len());
    assert!(tree.check().await.unwrap().is_sound());
}

async fn reads_in_a_transaction_see_its_changes(db: &Db) {
    let tree = plant::<ByBounds>(db).await;
    let node = Ref::<ByBounds>::from;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let tx = &mut session;
    tree.move_to(node(12), Position::root())
        .session(tx)
        .await
        .unwrap();
    assert_eq!(tree.depth(node(13)).session(tx).await.unwrap(), 1);
    assert!(tree.is_root(node(12)).session(tx).await.unwrap());
    assert!(!tree.is_leaf(node(12)).session(tx).await.unwrap());
    let parent = tree.is_parent_of(node(10), node(12));
    assert!(!parent.session(tx).await.unwrap());
    let above = tree.is_ancestor_of(node(10), node(13));
    assert!(!above.session(tx).await.unwrap());
    let siblings = tree.are_siblings(node(12), node(1));
    assert!(siblings.session(tx).await.unwrap());
    let common = tree.lowest_common_ancestor([node(13), node(11)]);
    assert_eq!(common.session(tx).await.unwrap(), None);
    let mut ids = tree.descendants(node(12)).session(tx).ids().await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, [13, 14]);
    // Outside, nothing has changed.
    assert_eq!(tree.depth(node(13)).await.unwrap(), 3);
    assert!(tree.is_parent_of(node(10), node(12)).await.unwrap());
    let common = tree.lowest_common_ancestor([node(13), node(11)]);
    assert_eq!(common.await.unwrap(), Some(10));
    session.abort_transaction().await.unwrap();
}
