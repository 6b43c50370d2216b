//! Concurrent changes of one tree, and of trees in different scopes.

use std::sync::atomic::{AtomicI32, Ordering};

use odm::bson::Document as BsonDocument;
use odm::prelude::*;
use odm::tree::TreeDelete;

use super::models::{ByAll, ByPath, TestTree};
use super::plain::Plain;
use super::random::Random;
use crate::case::cases;

cases![
    concurrent_changes_of_paths_leave_one_tree,
    concurrent_changes_of_all_patterns_leave_one_tree,
];

async fn concurrent_changes_of_paths_leave_one_tree(db: &Db) {
    concurrent::<ByPath>(db).await;
}

async fn concurrent_changes_of_all_patterns_leave_one_tree(db: &Db) {
    concurrent::<ByAll>(db).await;
}

/// Tasks that change one tree at random. Afterwards the kept fields agree with each other.
async fn concurrent<D: TestTree>(db: &Db) {
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<D>();
    let next = AtomicI32::new(1);
    for _ in 0..6 {
        let id = next.fetch_add(1, Ordering::Relaxed);
        tree.insert(D::node(id), Position::root()).await.unwrap();
    }
    let tasks = (0..8).map(|task| {
        let (tree, next) = (&tree, &next);
        async move {
            let mut random = Random::new(task);
            for _ in 0..12 {
                let ids = tree.all().ids().await.unwrap();
                if ids.is_empty() {
                    continue;
                }
                let (one, other) = (random.of(&ids), random.of(&ids));
                let result = match random.below(8) {
                    0 => tree
                        .delete_with(Ref::from(one), TreeDelete::Adopt)
                        .await
                        .map(drop),
                    1..=4 => {
                        let id = next.fetch_add(1, Ordering::Relaxed);
                        let position = Position::first_child_of(Ref::from(one));
                        tree.insert(D::node(id), position).await.map(drop)
                    }
                    _ => {
                        let position = Position::child_of(Ref::from(other));
                        tree.move_to(Ref::from(one), position).await.map(drop)
                    }
                };
                // Another task may have deleted the node, or moved the place below it.
                if let Err(error) = result {
                    assert!(error.tree_refusal().is_some(), "{error}");
                }
            }
        }
    });
    futures::future::join_all(tasks).await;
    let stored = tree.collection().find_all().with_type::<BsonDocument>();
    let stored = stored.all().await.unwrap();
    let plain = Plain::of(D::TREE, &stored);
    plain.assert_stored(D::TREE, &stored);
}
