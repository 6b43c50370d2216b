//! Deletes of nodes to which documents of other collections refer.

use odm::bson::{Bson, doc};
use odm::prelude::*;
use odm::tree::TreeDelete;
use odm::tree::prelude::*;

use super::{insert, stored_ids};
use crate::suite::relations::watched;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "rooms",
    tree(materialized_path, path = path, parent = parent),
    has_many(machines: Machine, by = room, on_delete = cascade),
    has_many(keys: Key, by = opens, on_delete = pull),
    has_many(guards: Guard, by = room, on_delete = restrict)
)]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Room>,
    path: Materialized<Room>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "machines",
    has_many(parts: Part, by = machine, on_delete = cascade)
)]
struct Machine {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    room: Ref<Room>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    machine: Ref<Machine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "keys")]
struct Key {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 10), index)]
    opens: Vec<Ref<Room>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "guards")]
struct Guard {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    room: Ref<Room>,
}

fn room(id: i32) -> Ref<Room> {
    Ref::from(id)
}

/// The house 1 has the floors 2 and 3; the rooms 4 and 5 are on floor 2. Each room has the machine and the part of its number.
async fn house(db: &Db) -> Tree<RoomTree> {
    for name in ["rooms", "machines", "parts", "keys", "guards"] {
        let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
        db.run_command(delete).await.unwrap();
    }
    let tree = db.tree::<Room>();
    for (id, parent) in [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)] {
        let position = match parent {
            0 => Position::root(),
            parent => Position::child_of(room(parent)),
        };
        let node = Room {
            id,
            parent: Parent::default(),
            path: Materialized::default(),
        };
        tree.insert(node, position).await.unwrap();
    }
    let machine = |id: i32| doc! {"_id": id, "room": id};
    insert(db, "machines", (1..=5).map(machine)).await;
    let part = |id: i32| doc! {"_id": id, "machine": id};
    insert(db, "parts", (1..=5).map(part)).await;
    insert(db, "keys", [doc! {"_id": 1, "opens": [1, 2, 3, 4, 5]}]).await;
    insert(db, "guards", [doc! {"_id": 1, "room": 3}]).await;
    tree
}

type RoomTree = Room;

async fn numbers(db: &Db, collection: &str) -> Vec<i32> {
    let ids = stored_ids(db, collection).await;
    ids.iter().map(|id| id.as_i32().unwrap()).collect()
}

async fn opened(db: &Db) -> Vec<i32> {
    let key = db.collection::<Key>().get(&1).await.unwrap().unwrap();
    key.opens.iter().map(|room| *room.id()).collect()
}

pub(super) async fn nodes_are_deleted_with_what_refers_to_them(db: &Db) {
    for (policy, left) in [
        (TreeDelete::Cascade, [1, 3].as_slice()),
        (TreeDelete::Adopt, &[1, 3, 4, 5]),
        (TreeDelete::MakeRoots, &[1, 3, 4, 5]),
    ] {
        for is_atomic in [true, false] {
            let tree = house(db).await;
            let delete = tree.delete(room(2)).policy(policy).with_dependents();
            let delete = if is_atomic {
                delete
            } else {
                delete.non_atomic()
            };
            delete.await.unwrap();
            for collection in ["rooms", "machines", "parts"] {
                assert_eq!(
                    numbers(db, collection).await,
                    left,
                    "{policy:?} {collection}"
                );
            }
            assert_eq!(opened(db).await, left, "{policy:?}");
            assert!(tree.check().await.unwrap().is_sound());
        }
    }
}

pub(super) async fn deletes_of_nodes_say_what_becomes_of_dependents(db: &Db) {
    house(db).await;
    let (watched, log) = watched(db);
    let tree = watched.tree::<Room>();
    let error = tree.delete(room(4)).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`machines` declares `on_delete`"),
        "{error}"
    );
    let is_write = |command: &odm::bson::Document| {
        command.contains_key("update") || command.contains_key("delete")
    };
    assert!(!log.lock().unwrap().iter().any(is_write));

    tree.delete(room(4)).leave_dangling().await.unwrap();
    assert_eq!(numbers(db, "rooms").await, [1, 2, 3, 5]);
    assert_eq!(numbers(db, "machines").await, [1, 2, 3, 4, 5]);
}

pub(super) async fn a_guard_keeps_the_whole_house(db: &Db) {
    let tree = house(db).await;
    for is_atomic in [true, false] {
        let delete = tree
            .delete(room(1))
            .policy(TreeDelete::Cascade)
            .with_dependents();
        let delete = if is_atomic {
            delete
        } else {
            delete.non_atomic()
        };
        let error = delete.await.unwrap_err();
        assert!(error.is_restricted(), "{error}");
        for collection in ["rooms", "machines", "parts"] {
            assert_eq!(numbers(db, collection).await, [1, 2, 3, 4, 5]);
        }
        assert!(tree.check().await.unwrap().is_sound());
    }
    // A node with children is refused by its tree, and nothing else happens.
    assert!(
        tree.delete(room(2))
            .with_dependents()
            .await
            .unwrap_err()
            .tree_refusal()
            .is_some()
    );
    assert_eq!(numbers(db, "machines").await.len(), 5);
    assert_eq!(stored_ids(db, "guards").await, [Bson::Int32(1)]);
}
