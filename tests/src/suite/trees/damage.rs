//! Each kind of damage: found alone, and repaired.

use std::collections::BTreeSet;

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm::query::raw;
use odm::tree::DamageKind;
use odm::tree::prelude::*;

use super::models::{
    ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, Scoped, TestTree,
    TwoPatterns,
};
use crate::case::cases;

cases![
    sound_trees_have_no_damage,
    damage_of_parent_references,
    damage_of_child_references,
    damage_of_ancestors,
    damage_of_paths,
    damage_of_bounds,
    damage_of_two_patterns,
    mixed_scopes,
    progress_is_reported_and_repairs_leave_changed_nodes_alone,
];

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
const PRE_ORDER: [i32; 9] = [1, 2, 5, 7, 6, 3, 4, 8, 9];

async fn sample<D: TestTree>(db: &Db) -> Tree<D> {
    let tree = db.tree::<D>();
    db.collection::<D::Model>().drop().await.unwrap();
    for (id, parent) in SAMPLE {
        let position = match parent {
            0 => Position::root(),
            parent => Position::child_of(Ref::from(parent)),
        };
        tree.insert(D::node(id), position).await.unwrap();
    }
    assert_eq!(tree.all().pre_order().ids().await.unwrap(), PRE_ORDER);
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(report.read, 9);
    assert!(tree.repair().await.unwrap().is_empty());
    tree
}

/// Changes nodes by hand; expects damage of one kind, and a repair that leaves none.
async fn damaged<D: TestTree>(
    db: &Db,
    kind: DamageKind,
    nodes: &[i32],
    changes: Vec<(i32, BsonDocument)>,
) -> Tree<D> {
    let tree = sample::<D>(db).await;
    for (id, change) in changes {
        let updated = tree
            .collection()
            .update_one(|_| raw(doc! {"_id": id}), |_| raw(change))
            .await;
        assert_eq!(updated.unwrap().modified, 1);
    }
    let report = tree.check().await.unwrap();
    let kinds: BTreeSet<_> = report.listed.iter().map(|damage| damage.kind).collect();
    assert_eq!(kinds, BTreeSet::from([kind]), "{report}");
    let found: BTreeSet<_> = report
        .listed
        .iter()
        .map(|damage| damage.id.as_i32().unwrap())
        .collect();
    assert_eq!(found, nodes.iter().copied().collect(), "{report}");
    let plan = tree.repair().await.unwrap();
    assert!(
        plan.apply(Allow::WRITE).await.unwrap().is_complete(),
        "{plan}"
    );
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "after {plan}: {report}");
    assert_eq!(tree.all().ids().await.unwrap().len(), 9);
    tree
}

async fn order<D: TestTree>(tree: &Tree<D>) -> Vec<i32> {
    tree.all().pre_order().ids().await.unwrap()
}

async fn sound_trees_have_no_damage(db: &Db) {
    sample::<ByParent>(db).await;
    sample::<ByChildren>(db).await;
    sample::<ByAncestors>(db).await;
    sample::<ByPath>(db).await;
    sample::<ByBounds>(db).await;
    sample::<ByBoundsAndParent>(db).await;
    sample::<super::models::ByAll>(db).await;
    sample::<TwoPatterns>(db).await;
    sample::<Scoped>(db).await;
}

async fn damage_of_parent_references(db: &Db) {
    let set = |parent: i32| doc! {"$set": {"parent": parent}};
    let tree = damaged::<ByParent>(db, DamageKind::Orphan, &[7], vec![(7, set(99))]).await;
    assert!(tree.is_root(Ref::from(7)).await.unwrap());
    damaged::<ByParent>(db, DamageKind::Cycle, &[2, 5, 7], vec![(2, set(7))]).await;
    damaged::<ByParent>(db, DamageKind::Cycle, &[3], vec![(3, set(3))]).await;
    let same = doc! {"$set": {"rank": "n0"}};
    let ranks = vec![(5, same.clone()), (6, same)];
    let tree = sample::<ByParent>(db).await;
    for (id, change) in ranks {
        tree.collection()
            .update_one(|_| raw(doc! {"_id": id}), |_| raw(change))
            .await
            .unwrap();
    }
    let report = tree.check().await.unwrap();
    assert_eq!(report.listed.len(), 1, "{report}");
    assert_eq!(report.listed[0].kind, DamageKind::DuplicateRank);
    tree.repair()
        .await
        .unwrap()
        .apply(Allow::WRITE)
        .await
        .unwrap();
    assert!(tree.check().await.unwrap().is_sound());
}

async fn damage_of_child_references(db: &Db) {
    let push = |child: i32| doc! {"$push": {"children": child}};
    damaged::<ByChildren>(db, DamageKind::MissingChild, &[3], vec![(3, push(99))]).await;
    damaged::<ByChildren>(db, DamageKind::SeveralParents, &[7], vec![(3, push(7))]).await;
    let cut = doc! {"$pull": {"children": 2}};
    let cycle = vec![(1, cut), (7, push(2))];
    damaged::<ByChildren>(db, DamageKind::Cycle, &[2, 5, 7], cycle).await;
}

async fn damage_of_ancestors(db: &Db) {
    let set = |ancestors: Vec<i32>| doc! {"$set": {"ancestors": ancestors}};
    let wrong = vec![(5, set(vec![8, 2]))];
    damaged::<ByAncestors>(db, DamageKind::WrongAncestors, &[5], wrong).await;
    let missing = vec![(7, set(vec![1, 2, 99]))];
    let tree = damaged::<ByAncestors>(db, DamageKind::MissingAncestor, &[7], missing).await;
    assert!(tree.is_root(Ref::from(7)).await.unwrap());
}

async fn damage_of_paths(db: &Db) {
    let set = |path: &str| doc! {"$set": {"path": path}};
    damaged::<ByPath>(db, DamageKind::MalformedPath, &[7], vec![(7, set("1,2"))]).await;
    damaged::<ByPath>(db, DamageKind::MalformedPath, &[7], vec![(7, set(",1,x,"))]).await;
    let tree = damaged::<ByPath>(db, DamageKind::WrongPath, &[7], vec![(7, set(",8,2,5,"))]).await;
    assert_eq!(order(&tree).await, PRE_ORDER);
    damaged::<ByPath>(
        db,
        DamageKind::MissingAncestor,
        &[7],
        vec![(7, set(",1,2,99,"))],
    )
    .await;
}

async fn damage_of_bounds(db: &Db) {
    let set = |field: &str, value: i32| doc! {"$set": {field: value}};
    let kinds = [
        (DamageKind::OverlappingBounds, 9, set("right", 19)),
        (DamageKind::DuplicateBounds, 9, set("right", 18)),
        (DamageKind::GappedBounds, 8, set("right", 20)),
        (DamageKind::WrongDepth, 7, set("depth", 9)),
        (DamageKind::WrongCount, 4, set("children_count", 3)),
    ];
    for (kind, id, change) in kinds {
        let tree = damaged::<ByBoundsAndParent>(db, kind, &[id], vec![(id, change)]).await;
        assert_eq!(order(&tree).await, PRE_ORDER);
    }
    let count = vec![(4, set("descendants_count", 5))];
    damaged::<ByBoundsAndParent>(db, DamageKind::WrongCount, &[4], count).await;
    let gap = vec![(8, set("right", 20))];
    let tree = damaged::<ByBounds>(db, DamageKind::GappedBounds, &[8], gap).await;
    assert_eq!(order(&tree).await, PRE_ORDER);
}

async fn damage_of_two_patterns(db: &Db) {
    let disagree = vec![(7, doc! {"$set": {"ancestors": [1, 2, 6]}})];
    let tree = damaged::<TwoPatterns>(db, DamageKind::Disagreement, &[7], disagree).await;
    assert_eq!(tree.ancestors(Ref::from(7)).ids().await.unwrap(), [1, 2, 5]);
    let depth = vec![(7, doc! {"$set": {"depth": 9}})];
    damaged::<TwoPatterns>(db, DamageKind::WrongDepth, &[7], depth).await;
}

async fn mixed_scopes(db: &Db) {
    let other = vec![(7, doc! {"$set": {"shop": 2}})];
    let tree = damaged::<Scoped>(db, DamageKind::MixedScopes, &[7], other).await;
    assert!(tree.is_root(Ref::from(7)).await.unwrap());
}

async fn progress_is_reported_and_repairs_leave_changed_nodes_alone(db: &Db) {
    let tree = sample::<ByPath>(db).await;
    let mut seen = Vec::new();
    tree.check()
        .on_progress(|nodes| seen.push(nodes))
        .await
        .unwrap();
    assert_eq!(seen, [9]);
    let set = |path: &str| raw(doc! {"$set": {"path": path}});
    let nodes = tree.collection();
    nodes
        .update_one(|_| raw(doc! {"_id": 7}), |_| set(",8,2,5,"))
        .await
        .unwrap();
    let plan = tree.repair().await.unwrap();
    nodes
        .update_one(|_| raw(doc! {"_id": 7}), |_| set(",8,"))
        .await
        .unwrap();
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!((applied.written(), applied.unmatched()), (0, 1));
}
