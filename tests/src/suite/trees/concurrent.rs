//! Concurrent changes of one tree, and of trees in different scopes.
//!
//! `ODM_TREE_OPERATIONS` is the number of changes in each case.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use odm::bson::Document as BsonDocument;
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{TreeDelete, TreeWrite};

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, Scoped, TestTree,
};
use super::plain::{Place, Plain};
use super::random::{Random, position};
use crate::case::cases;
use crate::suite::relations::watched;

cases![
    concurrent_changes_of_parent_references_leave_the_tree_of_their_order,
    concurrent_changes_of_child_references_leave_the_tree_of_their_order,
    concurrent_changes_of_ancestors_leave_the_tree_of_their_order,
    concurrent_changes_of_paths_leave_the_tree_of_their_order,
    concurrent_changes_of_bounds_leave_the_tree_of_their_order,
    concurrent_changes_of_bounds_with_parents_leave_the_tree_of_their_order,
    concurrent_changes_of_all_patterns_leave_the_tree_of_their_order,
    concurrent_changes_of_paths_exclude_each_other_without_transactions,
    concurrent_changes_of_bounds_exclude_each_other_without_transactions,
    concurrent_changes_of_all_patterns_exclude_each_other_without_transactions,
    changes_in_different_scopes_do_not_meet,
    changes_by_one_handle_take_turns,
    a_dropped_change_gives_its_turn_back,
];

async fn concurrent_changes_of_parent_references_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByParent>(db).await;
}

async fn concurrent_changes_of_child_references_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByChildren>(db).await;
}

async fn concurrent_changes_of_ancestors_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByAncestors>(db).await;
}

async fn concurrent_changes_of_paths_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByPath>(db).await;
}

async fn concurrent_changes_of_bounds_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByBounds>(db).await;
}

async fn concurrent_changes_of_bounds_with_parents_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByBoundsAndParent>(db).await;
}

async fn concurrent_changes_of_all_patterns_leave_the_tree_of_their_order(db: &Db) {
    concurrent::<ByAll>(db).await;
}

/// The number of changes of a tree, without those that are refused.
fn operations() -> usize {
    let set = std::env::var("ODM_TREE_OPERATIONS").ok();
    set.map_or(64, |set| set.parse().unwrap())
}

/// The nodes of a tree, about which the changes keep their number.
const NODES: usize = 40;

#[derive(Debug, Clone, Copy)]
enum Change {
    Insert(i32, Place),
    Move(i32, Place),
    Swap(i32, i32),
    Delete(i32, TreeDelete),
}

impl Change {
    fn random(random: &mut Random, ids: &[i32], next: &AtomicI32) -> Self {
        let one = match ids {
            [] => 0,
            ids => random.of(ids),
        };
        let is_small = ids.len() < NODES;
        match random.below(12) {
            _ if ids.len() < 4 => {
                let id = next.fetch_add(1, Ordering::Relaxed);
                Self::Insert(id, random.place(ids, id))
            }
            0..4 => Self::Move(one, random.place(ids, one)),
            4 => Self::Swap(one, random.of(ids)),
            5 => Self::Delete(one, TreeDelete::Adopt),
            6 => Self::Delete(one, TreeDelete::Restrict),
            7 => Self::Delete(one, TreeDelete::MakeRoots),
            8 if !is_small => Self::Delete(one, TreeDelete::Cascade),
            _ => {
                let id = next.fetch_add(1, Ordering::Relaxed);
                Self::Insert(id, random.place(ids, id))
            }
        }
    }

    /// Runs it in the transaction of a session, or without one.
    async fn run<D: TestTree>(
        self,
        tree: &Tree<D>,
        session: Option<&mut Session>,
    ) -> odm::Result<TreeWrite> {
        let node = Ref::<D::Model>::from;
        let change = match self {
            Self::Insert(id, place) => {
                let insert = tree.insert(D::node(id), position(place));
                let insert = match session {
                    Some(session) => insert.session(session),
                    None => insert.non_atomic(),
                };
                return insert.await.map(|inserted| inserted.written);
            }
            Self::Move(one, place) => tree.move_to(node(one), position(place)),
            Self::Swap(one, other) => tree.swap(node(one), node(other)),
            Self::Delete(one, policy) => tree.delete(node(one)).policy(policy).into(),
        };
        match session {
            Some(session) => change.session(session).await,
            None => change.non_atomic().await,
        }
    }

    #[track_caller]
    fn replay(self, plain: &mut Plain) {
        match self {
            Self::Insert(id, place) => plain.insert(id, place),
            Self::Move(one, place) => assert!(plain.relocate(one, place), "{self:?}"),
            Self::Swap(one, other) => assert!(plain.swap(one, other), "{self:?}"),
            Self::Delete(one, TreeDelete::Adopt) => plain.adopt(one),
            Self::Delete(one, TreeDelete::MakeRoots) => plain.make_roots(one),
            Self::Delete(one, policy) => {
                assert!(policy == TreeDelete::Cascade || plain.children(one).is_empty());
                plain.cascade(one);
            }
        }
    }
}

/// The number of changes of a tree so far, as its fence counts them.
async fn order(db: &Db, session: &mut Session) -> odm::Result<i64> {
    let find = doc! {"find": "odm_tree_fences"};
    let fences = db.run_command(find).session(session).all().await?;
    Ok(fences[0].get_i64("writes").unwrap())
}

/// Eight tasks change one tree at random. It is then the tree that the same changes make of a plain one, in the order in
/// which they were committed.
async fn concurrent<D: TestTree>(db: &Db) {
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<D>();
    let (next, left) = (AtomicI32::new(1), AtomicUsize::new(operations()));
    let (tries, slowest) = (AtomicUsize::new(0), Mutex::new(Duration::ZERO));
    let log = Mutex::new(Vec::new());
    let began = Instant::now();
    let tasks = (0..8).map(|task| {
        let (tree, next, left, log) = (&tree, &next, &left, &log);
        let (tries, slowest) = (&tries, &slowest);
        async move {
            let mut random = Random::new(task);
            let one_less = |left: usize| left.checked_sub(1);
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                .is_ok()
            {
                let ids = tree.all().ids().await.unwrap();
                let change = Change::random(&mut random, &ids, next);
                let began = Instant::now();
                let changed = transaction!(db, |tx| -> odm::Result<i64> {
                    tries.fetch_add(1, Ordering::Relaxed);
                    change.run(tree, Some(tx)).await?;
                    order(db, tx).await
                })
                .await;
                let mut slowest = slowest.lock().unwrap();
                *slowest = began.elapsed().max(*slowest);
                drop(slowest);
                match changed {
                    Ok(order) => log.lock().unwrap().push((order, change)),
                    // Another task has deleted the node, or moved the place below it.
                    Err(error) => {
                        assert!(error.tree_refusal().is_some(), "{error}");
                        left.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    });
    futures::future::join_all(tasks).await;
    let took = began.elapsed();
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    let mut log = log.into_inner().unwrap();
    log.sort_by_key(|(order, _)| *order);
    let mut plain = Plain::default();
    for (_, change) in &log {
        change.replay(&mut plain);
    }
    let stored = tree.collection().find_all().with_type::<BsonDocument>();
    plain.assert_stored(D::TREE, &stored.all().await.unwrap());
    assert_eq!(tree.all().pre_order().ids().await.unwrap(), plain.below(0));
    if std::env::var_os("ODM_TREE_OPERATIONS").is_some() {
        report_figures(&format!(
            "{}: {} changes in {took:.1?}, {} runs of transactions, the slowest took {:.1?}",
            D::Model::model().collection,
            log.len(),
            tries.into_inner(),
            slowest.into_inner().unwrap()
        ));
    }
}

async fn concurrent_changes_of_paths_exclude_each_other_without_transactions(db: &Db) {
    without_transactions::<ByPath>(db).await;
}

async fn concurrent_changes_of_bounds_exclude_each_other_without_transactions(db: &Db) {
    without_transactions::<ByBoundsAndParent>(db).await;
}

async fn concurrent_changes_of_all_patterns_exclude_each_other_without_transactions(db: &Db) {
    without_transactions::<ByAll>(db).await;
}

/// Four tasks change one tree at random, without transactions. A change that another one came between is run again, after a
/// random wait.
async fn without_transactions<D: TestTree>(db: &Db) {
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<D>();
    let (next, left) = (AtomicI32::new(1), AtomicUsize::new(operations().min(64)));
    let count = AtomicI64::new(0);
    let tasks = (0..4).map(|task| {
        let (tree, next, left, count) = (&tree, &next, &left, &count);
        async move {
            let mut random = Random::new(task);
            let one_less = |left: usize| left.checked_sub(1);
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                .is_ok()
            {
                let ids = tree.all().ids().await.unwrap();
                let change = Change::random(&mut random, &ids, next);
                loop {
                    let refused = match change.run(tree, None).await {
                        Ok(done) => {
                            let more = i64::try_from(done.inserted).unwrap();
                            let less = i64::try_from(done.deleted).unwrap();
                            count.fetch_add(more - less, Ordering::Relaxed);
                            break;
                        }
                        Err(error) => error.tree_refusal().unwrap_or_else(|| panic!("{error}")),
                    };
                    match refused {
                        TreeRefusal::Conflict | TreeRefusal::Unfinished => {
                            let wait = u64::try_from(random.below(30)).unwrap();
                            tokio::time::sleep(Duration::from_millis(wait)).await;
                        }
                        // Another task has deleted the node, or moved the place below it.
                        _ => {
                            left.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                    }
                }
            }
        }
    });
    futures::future::join_all(tasks).await;
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    let stored = tree.all().count().await.unwrap();
    assert_eq!(i64::try_from(stored).unwrap(), count.into_inner());
}

#[expect(clippy::print_stdout, reason = "the figures of long runs")]
fn report_figures(line: &str) {
    println!("{line}");
}

async fn changes_in_different_scopes_do_not_meet(db: &Db) {
    let plan = db.sync(odm::models![Scoped]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<Scoped>();
    for shop in [1, 2] {
        let node = Scoped::of_shop(shop, shop);
        tree.insert(node, Position::root()).await.unwrap();
    }
    let child = |id, shop| {
        let position = Position::child_of(Ref::from(shop));
        tree.insert(Scoped::of_shop(id, shop), position)
    };
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    child(11, 1).session(&mut session).await.unwrap();
    // While that transaction is open, the other tree changes.
    let mut other = db.start_session().await.unwrap();
    other.start_transaction().await.unwrap();
    let began = Instant::now();
    child(21, 2).session(&mut other).await.unwrap();
    other.commit_transaction().await.unwrap();
    child(22, 2).await.unwrap();
    tree.delete(Ref::from(21)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    // A change of the same tree conflicts.
    other.start_transaction().await.unwrap();
    let failed = child(12, 1).session(&mut other).await.unwrap_err();
    assert!(failed.has_label("TransientTransactionError"), "{failed:?}");
    let _ = other.abort_transaction().await;
    session.commit_transaction().await.unwrap();
    child(12, 1).await.unwrap();
    let mut ids = tree.all().ids().await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 11, 12, 22]);
    assert!(tree.check().await.unwrap().is_sound());
}

/// Changes of tasks that share a handle don't conflict: no transaction runs twice.
async fn changes_by_one_handle_take_turns(db: &Db) {
    let plan = db.sync(odm::models![ByPath, Scoped]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let (watched, log) = watched(db);
    let root = watched.tree::<ByPath>();
    root.insert(ByPath::node(1), Position::root())
        .await
        .unwrap();
    let other = watched.tree::<Scoped>();
    let first = Scoped::of_shop(1, 1);
    other.insert(first, Position::root()).await.unwrap();
    log.lock().unwrap().clear();
    let tasks = (0..8).map(|task| {
        // Another handle of the same connection.
        let handle = watched.database(watched.name());
        let (tree, scoped) = (handle.tree::<ByPath>(), watched.tree::<Scoped>());
        async move {
            for number in 0..3 {
                let id = 10 + 10 * task + number;
                let place = Position::first_child_of(Ref::from(1));
                tree.insert(ByPath::node(id), place).await.unwrap();
                let place = Position::first_child_of(Ref::from(1));
                let node = Scoped::of_shop(id, 1);
                scoped.insert(node, place).await.unwrap();
                let place = Position::root();
                scoped.move_to(Ref::from(id), place).await.unwrap();
            }
        }
    });
    futures::future::join_all(tasks).await;
    let log = std::mem::take(&mut *log.lock().unwrap());
    let sent = |command: &str| log.iter().filter(|sent| sent.contains_key(command)).count();
    assert_eq!(sent("abortTransaction"), 0);
    assert_eq!(sent("insert"), 48);
    assert_eq!(root.children(Ref::from(1)).count().await.unwrap(), 24);
}

async fn a_dropped_change_gives_its_turn_back(db: &Db) {
    let plan = db.sync(odm::models![ByPath]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<ByPath>();
    let began = Instant::now();
    for id in 1..=4 {
        let mut dropped = tree
            .insert(ByPath::node(-id), Position::root())
            .into_future();
        let _ = futures::poll!(&mut dropped);
        let waits = tree.insert(ByPath::node(id), Position::root());
        if id % 2 == 0 {
            drop(dropped);
            waits.await.unwrap();
        } else {
            // It is dropped while the other one waits.
            let later = async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                drop(dropped);
            };
            futures::join!(later, waits.into_future()).1.unwrap();
        }
    }
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
    let stored = tree
        .all()
        .filter(|node| node.id.gt(0))
        .count()
        .await
        .unwrap();
    assert_eq!(stored, 4);
}
