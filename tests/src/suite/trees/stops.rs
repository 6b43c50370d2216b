//! Changes without a transaction that stop after any of their writes: also after each document of an update of several.
//!
//! The cases of patterns with many writes look at a part of the stops, unless `ODM_TREE_OPERATIONS` is set.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;
use odm::tree::TreeDelete;
use odm::tree::prelude::*;

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByBoundsInShops, ByChildren, ByParent, ByPath,
    TestTree, TwoPatterns,
};
use super::operations::{Operation, Scene, State, sample};
use crate::case::cases;
use crate::suite::relations::watched;

cases![
    stopped_changes_of_parent_references_are_completed,
    stopped_changes_of_child_references_are_completed,
    stopped_changes_of_ancestors_are_completed,
    stopped_changes_of_paths_are_completed,
    stopped_changes_of_bounds_are_completed,
    stopped_changes_of_bounds_in_scopes_are_completed,
    stopped_changes_of_bounds_with_parents_are_completed,
    stopped_changes_of_two_patterns_are_completed,
    stopped_changes_of_all_patterns_together_are_completed,
    stopped_deletes_from_two_trees_are_completed,
    refused_inserts_leave_the_tree_as_it_is,
];

async fn stopped_changes_of_parent_references_are_completed(db: &Db) {
    stopped::<ByParent>(db).await;
}

async fn stopped_changes_of_child_references_are_completed(db: &Db) {
    stopped::<ByChildren>(db).await;
}

async fn stopped_changes_of_ancestors_are_completed(db: &Db) {
    stopped::<ByAncestors>(db).await;
}

async fn stopped_changes_of_paths_are_completed(db: &Db) {
    stopped::<ByPath>(db).await;
}

async fn stopped_changes_of_bounds_are_completed(db: &Db) {
    stopped::<ByBounds>(db).await;
}

async fn stopped_changes_of_bounds_in_scopes_are_completed(db: &Db) {
    stopped::<ByBoundsInShops>(db).await;
}

async fn stopped_changes_of_bounds_with_parents_are_completed(db: &Db) {
    stopped::<ByBoundsAndParent>(db).await;
}

async fn stopped_changes_of_two_patterns_are_completed(db: &Db) {
    stopped::<TwoPatterns>(db).await;
}

async fn stopped_changes_of_all_patterns_together_are_completed(db: &Db) {
    stopped::<ByAll>(db).await;
}

async fn stopped<D: TestTree>(db: &Db) {
    let (watched, log) = watched(db);
    let tree = sample::<D>(&watched).await;
    let before = State::read::<D::Model>(db).await;
    let is_short = std::env::var_os("ODM_TREE_OPERATIONS").is_none();
    let stride = match D::TREE.bounds {
        Some(_) if is_short && D::TREE.order.is_some() => 5,
        Some(_) if is_short => 3,
        _ => 1,
    };
    for (number, operation) in Operation::ALL.into_iter().enumerate() {
        log.lock().unwrap().clear();
        let scene = Scene::new(&watched, &tree, &before, operation).await;
        let sent = std::mem::take(&mut *log.lock().unwrap());
        // An update of several documents takes them in any order.
        let orders = if is_short {
            vec![number % 2 == 0]
        } else {
            vec![false, true]
        };
        for is_reversed in orders {
            replay(db, &scene, &sent, is_reversed, (number, stride)).await;
        }
    }
}

/// Writes what an operation wrote, one document at a time, and looks at the tree after each.
async fn replay<D: TestTree>(
    db: &Db,
    scene: &Scene<D>,
    sent: &[BsonDocument],
    is_reversed: bool,
    (first, stride): (usize, usize),
) {
    scene.before.restore(db).await;
    let mut count = 0_usize;
    for command in sent.iter().skip_while(|command| !is_fence(command)) {
        for single in statements(command) {
            for single in documents(db, single, is_reversed).await {
                db.run_command(single.clone()).await.unwrap();
                count += 1;
                if !(count + first).is_multiple_of(stride) {
                    continue;
                }
                let state = State::read::<D::Model>(db).await;
                let what = format!("{count} writes, the last one {single}");
                scene.assess(db, &what).await;
                state.restore(db).await;
            }
        }
    }
    assert_eq!(State::read::<D::Model>(db).await.nodes, scene.after.nodes);
}

/// Whether a command writes a fence, which is the first write of a change.
pub(super) fn is_fence(command: &BsonDocument) -> bool {
    let updated = command.get_str("update");
    updated.is_ok_and(|collection| collection == "odm_tree_fences")
}

/// A write command as several, with one statement each.
pub(super) fn statements(command: &BsonDocument) -> Vec<BsonDocument> {
    for (name, list) in [
        ("insert", "documents"),
        ("update", "updates"),
        ("delete", "deletes"),
    ] {
        if let Ok(collection) = command.get_str(name) {
            let all = command.get_array(list).unwrap().iter();
            return all
                .map(|statement| doc! {name: collection, list: [statement.clone()]})
                .collect();
        }
    }
    Vec::new()
}

/// A write of one statement as several, with one document each.
pub(super) async fn documents(
    db: &Db,
    command: BsonDocument,
    is_reversed: bool,
) -> Vec<BsonDocument> {
    let (name, list) = if command.contains_key("update") {
        ("update", "updates")
    } else {
        ("delete", "deletes")
    };
    let Ok(collection) = command.get_str(name) else {
        return vec![command];
    };
    let statement = command.get_array(list).unwrap()[0].as_document().unwrap();
    let is_multi = statement.get_bool("multi").unwrap_or_default();
    if !is_multi && statement.get_i32("limit").unwrap_or(1) == 1 {
        return vec![command];
    }
    let filter = statement.get_document("q").unwrap();
    let find = doc! {"find": collection, "filter": filter, "sort": {"_id": if is_reversed { -1 } else { 1 }}};
    let found = db.run_command(find).all().await.unwrap();
    let single = found.into_iter().map(|document| {
        let id = document.get("_id").cloned().unwrap();
        let mut statement = statement.clone();
        statement.insert("q", doc! {"_id": id});
        doc! {name: collection, list: [Bson::from(statement)]}
    });
    single.collect()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "staff",
    tree(child_references, name = ByBoss, children = reports, order = rank),
    tree(nested_sets, name = ByRegion, left = left, right = right)
)]
struct Member {
    #[serde(rename = "_id")]
    id: i32,
    reports: Children<Member>,
    rank: Rank,
    left: Left,
    right: Right,
}

impl Member {
    fn new(id: i32) -> Self {
        Self {
            id,
            reports: Children::default(),
            rank: Rank::default(),
            left: Left::default(),
            right: Right::default(),
        }
    }
}

/// A delete writes to both trees, and each has a record of it.
async fn stopped_deletes_from_two_trees_are_completed(db: &Db) {
    let (watched, log) = watched(db);
    let (bosses, regions) = (watched.tree::<ByBoss>(), watched.tree::<ByRegion>());
    for (id, boss) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 1)] {
        let position = match boss {
            0 => Position::root(),
            boss => Position::child_of(Ref::from(boss)),
        };
        bosses.insert(Member::new(id), position).await.unwrap();
    }
    for id in [5, 2] {
        let position = Position::child_of(Ref::from(1));
        regions.move_to(Ref::from(id), position).await.unwrap();
    }
    let before = State::read::<Member>(db).await;
    let orders = async || {
        let bosses = bosses.all().pre_order().ids().await.unwrap();
        (bosses, regions.all().pre_order().ids().await.unwrap())
    };
    assert_eq!(orders().await, (vec![1, 2, 3, 4, 5], vec![1, 5, 2, 3, 4]));
    log.lock().unwrap().clear();
    let delete = bosses.delete(Ref::from(2)).policy(TreeDelete::Adopt);
    delete.non_atomic().await.unwrap();
    let sent = std::mem::take(&mut *log.lock().unwrap());
    let after = State::read::<Member>(db).await;
    before.restore(db).await;
    for command in sent.iter().skip_while(|command| !is_fence(command)) {
        for single in statements(command) {
            for single in documents(db, single, false).await {
                db.run_command(single.clone()).await.unwrap();
                let state = State::read::<Member>(db).await;
                let sound = bosses.check().await.unwrap().is_sound()
                    && regions.check().await.unwrap().is_sound();
                let is_whole = state.nodes == before.nodes || state.nodes == after.nodes;
                assert!(!sound || is_whole, "{single}: {:#?}", state.nodes);
                let plan = bosses.repair().await.unwrap();
                plan.apply(Allow::WRITE).await.unwrap();
                let plan = regions.repair().await.unwrap();
                plan.apply(Allow::WRITE).await.unwrap();
                assert!(bosses.check().await.unwrap().is_sound(), "{single}");
                assert!(regions.check().await.unwrap().is_sound(), "{single}");
                let is_before = state.nodes == before.nodes && sound;
                let expected = if is_before {
                    (vec![1, 2, 3, 4, 5], vec![1, 5, 2, 3, 4])
                } else {
                    (vec![1, 3, 4, 5], vec![1, 5, 3, 4])
                };
                assert_eq!(orders().await, expected, "{single}");
                state.restore(db).await;
            }
        }
    }
    assert_eq!(State::read::<Member>(db).await.nodes, after.nodes);
}

async fn refused_inserts_leave_the_tree_as_it_is(db: &Db) {
    let tree = sample::<ByAll>(db).await;
    let before = State::read::<ByAll>(db).await;
    let insert = tree.insert(ByAll::node(7), Position::child_of(Ref::from(8)));
    let taken = insert.non_atomic().await.unwrap_err();
    assert!(taken.is_duplicate_key(), "{taken}");
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(State::read::<ByAll>(db).await.nodes, before.nodes);
}
