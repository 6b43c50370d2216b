//! The commands that each operation sends and the documents that it writes, by pattern: the table of the book's chapter.

use std::sync::Mutex;

use odm::bson::Document as BsonDocument;
use odm::prelude::*;
use odm::tree::TreeDelete;

use crate::case::cases;
use crate::categories::{Category, PATTERNS};
use crate::categories::{by_ancestors, by_bounds, by_children, by_parent, by_path};
use crate::suite::relations::watched;

cases![every_operation_sends_the_commands_of_the_table];

/// What is counted: commands, without those that start and end transactions, and documents written, without the fence.
const OPERATIONS: [&str; 8] = [
    "children",
    "descendants",
    "descendants in pre-order",
    "ancestors",
    "insert a leaf",
    "insert a root",
    "move a subtree of 4",
    "delete a leaf",
];

/// The rows of the table, by the titles of the patterns.
const TABLE: [(&str, [(usize, u64); 8]); 5] = [
    (
        "tree, parent references",
        [
            (1, 0),
            (3, 0),
            (3, 0),
            (3, 0),
            (3, 1),
            (2, 1),
            (5, 1),
            (4, 1),
        ],
    ),
    (
        "tree, child references",
        [
            (2, 0),
            (3, 0),
            (3, 0),
            (3, 0),
            (4, 2),
            (2, 1),
            (6, 2),
            (5, 2),
        ],
    ),
    (
        "tree, array of ancestors",
        [
            (1, 0),
            (1, 0),
            (1, 0),
            (2, 0),
            (3, 1),
            (2, 1),
            (4, 4),
            (4, 1),
        ],
    ),
    (
        "tree, materialized paths",
        [
            (2, 0),
            (2, 0),
            (2, 0),
            (2, 0),
            (3, 1),
            (2, 1),
            (4, 4),
            (4, 1),
        ],
    ),
    (
        "tree, nested sets",
        [
            (1, 0),
            (2, 0),
            (2, 0),
            (3, 0),
            (5, 4),
            (4, 1),
            (6, 6),
            (5, 5),
        ],
    ),
];

async fn every_operation_sends_the_commands_of_the_table(db: &Db) {
    let mut found = Vec::new();
    for pattern in PATTERNS {
        (pattern.store)(db).await.unwrap();
        let counts = match pattern.title {
            "tree, parent references" => counts::<by_parent::Category>(db).await,
            "tree, child references" => counts::<by_children::Category>(db).await,
            "tree, array of ancestors" => counts::<by_ancestors::Category>(db).await,
            "tree, materialized paths" => counts::<by_path::Category>(db).await,
            _ => counts::<by_bounds::Category>(db).await,
        };
        found.push((pattern.title, counts));
        db.run_command(doc! {"drop": "categories"}).await.unwrap();
    }
    for ((title, found), (named, expected)) in found.iter().zip(TABLE) {
        assert_eq!(*title, named);
        for ((operation, found), expected) in OPERATIONS.iter().zip(found).zip(expected) {
            assert_eq!(*found, expected, "{title}: {operation}");
        }
    }
}

async fn counts<C: Category>(db: &Db) -> Vec<(usize, u64)> {
    let (db, log) = watched(db);
    let tree = db.tree::<C>();
    let named = |name: &str| Ref::from(name.to_owned());
    let programming = || named("Programming");
    let sent = |log: &Mutex<Vec<BsonDocument>>| {
        let commands = std::mem::take(&mut *log.lock().unwrap());
        let ends = ["commitTransaction", "abortTransaction"];
        let counted = commands
            .iter()
            .filter(|one| !ends.iter().any(|end| one.contains_key(end)));
        counted.count()
    };
    let mut counts = Vec::new();
    tree.children(programming()).all().await.unwrap();
    counts.push((sent(&log), 0));
    tree.descendants(programming()).all().await.unwrap();
    counts.push((sent(&log), 0));
    tree.descendants(programming())
        .pre_order()
        .all()
        .await
        .unwrap();
    counts.push((sent(&log), 0));
    tree.ancestors(named("MongoDB")).all().await.unwrap();
    counts.push((sent(&log), 0));
    let leaf = tree.insert(C::new("Redis"), Position::child_of(named("Databases")));
    let written = leaf.await.unwrap().written;
    counts.push((sent(&log), written.inserted + written.modified));
    let root = tree
        .insert(C::new("Music"), Position::root())
        .await
        .unwrap();
    counts.push((sent(&log), root.written.inserted + root.written.modified));
    let moved = tree.move_to(named("Databases"), Position::child_of(named("Books")));
    let done = moved.await.unwrap();
    counts.push((sent(&log), done.modified));
    let done = tree
        .delete_with(named("dbm"), TreeDelete::Cascade)
        .await
        .unwrap();
    counts.push((sent(&log), done.deleted + done.modified));
    counts
}
