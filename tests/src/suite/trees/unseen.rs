//! Inserts, upserts, deletes and saves of nodes, which the other nodes of a tree do not see.

use odm::prelude::*;
use odm::tree::prelude::*;

use super::models::{ByAll, ByParent, TestTree};
use super::operations::{State, sample};
use crate::case::cases;

cases![
    inserts_of_nodes_are_refused,
    upserts_of_nodes_are_refused,
    deletes_of_nodes_are_refused,
    saves_of_kept_fields_are_refused,
    nodes_can_be_written_as_they_are,
];

/// Each of these writes is refused as a wrong call that names the model and the way, and writes nothing.
macro_rules! refused {
    ($db:expr, $($write:expr => $way:literal),* $(,)?) => {
        let before = State::read::<ByAll>($db).await.nodes;
        $(
            let error = $write.await.map(drop).unwrap_err();
            assert!(error.is_usage(), "{error}");
            assert_eq!(error.model(), Some("ByAll"));
            assert!(error.to_string().contains($way), "{error}");
            assert_eq!(State::read::<ByAll>($db).await.nodes, before);
        )*
    };
}

async fn inserts_of_nodes_are_refused(db: &Db) {
    let tree = sample::<ByAll>(db).await;
    let nodes = tree.collection();
    let new = ByAll::node(20);
    refused!(db,
        nodes.insert_one(&new) => "insert(…)",
        nodes.insert_many([&new]) => "`load`",
        nodes.bulk_write(|w| [w.insert_one(&new)]) => "insert(…)",
    );
    assert!(nodes.insert_one(&new).command().is_err());
}

async fn upserts_of_nodes_are_refused(db: &Db) {
    let tree = sample::<ByAll>(db).await;
    let nodes = tree.collection();
    let update = nodes.update_one(|n| n.id.eq(20), |n| n.label.set("new"));
    let found = nodes.find_one_and_update(|n| n.id.eq(20), |n| n.label.set("new"));
    refused!(db,
        update.upsert(true) => "without `upsert`",
        found.upsert(true) => "without `upsert`",
        nodes.bulk_write(|w| [w.update_one(|n| n.id.eq(20), |n| n.label.set("new")).upsert(true)]) => "insert(…)",
    );
    let update = nodes.update_one(|n| n.id.eq(2), |n| n.label.set("new"));
    assert_eq!(update.upsert(false).await.unwrap().modified, 1);
}

async fn deletes_of_nodes_are_refused(db: &Db) {
    let tree = sample::<ByAll>(db).await;
    let nodes = tree.collection();
    refused!(db,
        nodes.delete_one(|n| n.id.eq(2)) => "delete(…)",
        nodes.delete_many(|n| n.id.gt(2)) => "delete(…)",
        nodes.find_one_and_delete(|n| n.id.eq(2)) => "delete(…)",
        nodes.bulk_write(|w| [w.delete_one(|n| n.id.eq(2))]) => "delete(…)",
        nodes.bulk_write(|w| [w.delete_many(|n| n.id.eq(2))]) => "bypass_trees()",
    );
    assert!(tree.check().await.unwrap().is_sound());
    // No node is left behind.
    assert_eq!(nodes.delete_all().await.unwrap().deleted, 9);
    assert!(tree.check().await.unwrap().is_sound());
}

async fn saves_of_kept_fields_are_refused(db: &Db) {
    let tree = sample::<ByParent>(db).await;
    let nodes = tree.collection();
    let mut loaded = nodes.load(5).await.unwrap().unwrap();
    let parent = loaded.parent.clone();
    loaded.parent = Parent::default();
    let error = nodes.save(&mut loaded).await.unwrap_err();
    assert!(
        error.is_usage() && error.path() == Some("parent"),
        "{error}"
    );
    assert_eq!(error.model(), Some("ByParent"));
    loaded.parent = parent;
    loaded.rank = Rank::default();
    let error = nodes.save(&mut loaded).await.unwrap_err();
    assert_eq!(error.path(), Some("rank"), "{error}");
    loaded.rank = nodes.get(5).await.unwrap().unwrap().rank;
    "new".clone_into(&mut loaded.label);
    assert!(nodes.save(&mut loaded).await.unwrap());
    assert!(tree.check().await.unwrap().is_sound());
}

async fn nodes_can_be_written_as_they_are(db: &Db) {
    let tree = sample::<ByAll>(db).await;
    let nodes = tree.collection();
    let before = State::read::<ByAll>(db).await.nodes;
    let backup = nodes.find_all().all().await.unwrap();
    let bypassing = nodes.bypass_trees();
    let deleted = bypassing.delete_many(|n| n.id.gt(0)).await.unwrap();
    assert_eq!(deleted.deleted, 9);
    let inserted = bypassing.insert_many(&backup[1..]).await.unwrap();
    assert_eq!(inserted.inserted_ids.len(), 8);
    let last = &backup[0];
    let inserted = bypassing.bulk_write(|w| [w.insert_one(last)]).await;
    assert_eq!(inserted.unwrap().inserted, 1);
    assert!(tree.check().await.unwrap().is_sound());
    assert_eq!(State::read::<ByAll>(db).await.nodes, before);
    // The handle itself still refuses.
    assert!(nodes.delete_one(|n| n.id.eq(2)).await.is_err());
}
