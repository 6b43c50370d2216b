//! Bulk loads, and trees in memory.

use odm::bson::Document as BsonDocument;
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::query::raw;
use odm::tree::Branch;
use odm::tree::prelude::*;

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, Scoped, TestTree,
};
use super::plain::{Place, Plain};
use super::random::Random;
use crate::case::cases;
use crate::suite::relations::watched;

cases![
    loads_store_what_single_inserts_do,
    loads_come_after_the_roots_that_are_there,
    loads_go_to_any_place,
    branches_are_read_back_and_loaded,
    edges_that_make_no_tree_are_refused,
    documents_are_arranged_in_memory,
    a_load_is_a_few_commands,
];

fn random_tree(count: i32) -> Plain {
    let mut random = Random::new(9);
    let mut plain = Plain::default();
    for id in 1..=count {
        let ids = plain.ids();
        let parent = if id < 4 { 0 } else { random.of(&ids) };
        plain.insert(id, Place::LastOf(parent));
    }
    plain
}

fn branch<D: TestTree>(plain: &Plain, id: i32) -> Branch<D::Model> {
    let mut branch = Branch::leaf(D::node(id));
    for child in plain.children(id) {
        branch = branch.with(self::branch::<D>(plain, *child));
    }
    branch
}

async fn loaded<D: TestTree>(db: &Db) {
    let plain = random_tree(60);
    let tree = db.tree::<D>();
    let roots = plain.children(0).iter();
    let roots: Vec<_> = roots.map(|root| branch::<D>(&plain, *root)).collect();
    let done = tree.insert_branches(roots).await.unwrap();
    assert_eq!(done.inserted, 60);
    let stored = tree.collection().find_all().with_type::<BsonDocument>();
    plain.assert_stored(D::TREE, &stored.all().await.unwrap());
    assert_eq!(tree.all().pre_order().ids().await.unwrap(), plain.below(0));
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
}

async fn loads_store_what_single_inserts_do(db: &Db) {
    loaded::<ByParent>(db).await;
    loaded::<ByChildren>(db).await;
    loaded::<ByAncestors>(db).await;
    loaded::<ByPath>(db).await;
    loaded::<ByBounds>(db).await;
    loaded::<ByBoundsAndParent>(db).await;
    loaded::<ByAll>(db).await;
    loaded::<Scoped>(db).await;
}

async fn loads_come_after_the_roots_that_are_there(db: &Db) {
    let tree = db.tree::<ByAll>();
    tree.insert(ByAll::node(1), Position::root()).await.unwrap();
    tree.insert(ByAll::node(2), Position::child_of(Ref::from(1)))
        .await
        .unwrap();
    let more = Branch::leaf(ByAll::node(3)).with(ByAll::node(4));
    let done = tree
        .insert_branches([more, Branch::leaf(ByAll::node(5))])
        .non_atomic()
        .await
        .unwrap();
    assert_eq!(done.inserted, 3);
    assert_eq!(tree.all().pre_order().ids().await.unwrap(), [1, 2, 3, 4, 5]);
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(tree.insert_branches([]).await.unwrap().inserted, 0);
}

/// Loads branches at each kind of place.
async fn loaded_at<D: TestTree>(db: &Db) {
    let mut plain = random_tree(20);
    let tree = db.tree::<D>();
    let edges = plain.ids().into_iter().map(|id| {
        let parent = plain.parent(id);
        let parent = (parent != 0).then(|| Ref::<D::Model>::from(parent));
        (D::node(id), parent)
    });
    tree.insert_edges(edges).await.unwrap();
    let mut random = Random::new(3);
    let mut next = 100;
    for kind in 0..12 {
        let ids = plain.ids();
        let one = random.of(&ids);
        let (place, position) = match kind % 6 {
            0 => (Place::FirstOf(0), Position::first_root()),
            1 => (
                Place::FirstOf(one),
                Position::first_child_of(Ref::from(one)),
            ),
            2 => (Place::LastOf(one), Position::last_child_of(Ref::from(one))),
            3 => (Place::Before(one), Position::before(Ref::from(one))),
            4 => (Place::After(one), Position::after(Ref::from(one))),
            _ => (Place::LastOf(0), Position::last_root()),
        };
        let [first, below, deeper, second] = [next, next + 1, next + 2, next + 3];
        next += 4;
        let branch =
            Branch::leaf(D::node(first)).with(Branch::leaf(D::node(below)).with(D::node(deeper)));
        let load = tree.insert_branches([branch, Branch::leaf(D::node(second))]);
        assert_eq!(load.at(position).await.unwrap().inserted, 4);
        plain.insert(first, place);
        plain.insert(below, Place::LastOf(first));
        plain.insert(deeper, Place::LastOf(below));
        plain.insert(second, Place::After(first));
        let stored = tree.collection().find_all().with_type::<BsonDocument>();
        plain.assert_stored(D::TREE, &stored.all().await.unwrap());
    }
    let missing = tree.insert_branches([Branch::leaf(D::node(1_000))]);
    let missing = missing.at(Position::child_of(Ref::from(999))).await;
    let refusal = missing.unwrap_err().tree_refusal();
    assert_eq!(refusal, Some(TreeRefusal::NotFound));
}

async fn loads_go_to_any_place(db: &Db) {
    loaded_at::<ByParent>(db).await;
    loaded_at::<ByChildren>(db).await;
    loaded_at::<ByAncestors>(db).await;
    loaded_at::<ByPath>(db).await;
    loaded_at::<ByBounds>(db).await;
    loaded_at::<ByBoundsAndParent>(db).await;
    loaded_at::<ByAll>(db).await;
    loaded_at::<Scoped>(db).await;
}

async fn branches_are_read_back_and_loaded(db: &Db) {
    let plain = random_tree(30);
    let tree = db.tree::<ByPath>();
    let roots = plain.children(0).iter();
    let roots: Vec<_> = roots.map(|root| branch::<ByPath>(&plain, *root)).collect();
    tree.insert_branches(roots).await.unwrap();
    let branches = tree.all().branches().await.unwrap();
    let dumped = serde_json::to_string(&branches).unwrap();
    assert!(
        dumped.starts_with(r#"[{"node":{"_id":1,"path":null,"#),
        "{dumped}"
    );
    let read: Vec<Branch<ByPath>> = serde_json::from_str(&dumped).unwrap();
    assert_eq!(read, branches);
    tree.collection().delete_all().await.unwrap();
    assert_eq!(tree.insert_branches(read).await.unwrap().inserted, 30);
    assert_eq!(tree.all().pre_order().ids().await.unwrap(), plain.below(0));

    let below = tree.descendants(Ref::from(plain.children(0)[1]));
    let below = below.limit(3).pre_order().branches().await.unwrap();
    assert_eq!(below.iter().map(Branch::len).sum::<usize>(), 3);
}

async fn edges_that_make_no_tree_are_refused(db: &Db) {
    let tree = db.tree::<ByPath>();
    let edge = |id: i32, parent: i32| {
        let parent = (parent != 0).then(|| Ref::<ByPath>::from(parent));
        (ByPath::node(id), parent)
    };
    let refusal = |error: odm::Error| error.tree_refusal().unwrap();
    let missing = tree
        .insert_edges([edge(1, 0), edge(2, 9)])
        .await
        .unwrap_err();
    assert_eq!(refusal(missing), TreeRefusal::NotFound);
    let cycle = tree
        .insert_edges([edge(1, 0), edge(2, 3), edge(3, 2)])
        .await
        .unwrap_err();
    assert_eq!(refusal(cycle), TreeRefusal::OwnSubtree);
    let own = tree.insert_edges([edge(1, 1)]).await.unwrap_err();
    assert_eq!(refusal(own), TreeRefusal::OwnSubtree);
    let taken = tree
        .insert_edges([edge(1, 0), edge(1, 0)])
        .await
        .unwrap_err();
    assert!(taken.is_duplicate_key(), "{taken}");
    assert_eq!(tree.all().count().await.unwrap(), 0);
    // A parent may come after its children.
    let done = tree
        .insert_edges([edge(2, 1), edge(3, 1), edge(1, 0)])
        .await
        .unwrap();
    assert_eq!(done.inserted, 3);
    assert_eq!(tree.all().pre_order().ids().await.unwrap(), [1, 2, 3]);
}

async fn documents_are_arranged_in_memory(db: &Db) {
    let plain = random_tree(20);
    let tree = db.tree::<ByBounds>();
    let roots = plain.children(0).iter();
    tree.insert_branches(roots.map(|root| branch::<ByBounds>(&plain, *root)))
        .await
        .unwrap();
    let documents = tree
        .all()
        .sort(|_| raw(odm::bson::doc! {"_id": -1}))
        .all()
        .await
        .unwrap();
    let branches = tree.arrange(documents).unwrap();
    let mut ids = Vec::new();
    for branch in &branches {
        branch.visit(&mut |node, _| ids.push(*node.id()));
    }
    assert_eq!(ids, plain.below(0));
    // A part of the tree: its nodes without a parent start branches.
    let below = tree
        .descendants(Ref::from(plain.children(0)[0]))
        .all()
        .await
        .unwrap();
    let count: usize = tree.arrange(below).unwrap().iter().map(Branch::len).sum();
    assert_eq!(count, plain.below(plain.children(0)[0]).len());
}

async fn a_load_is_a_few_commands(db: &Db) {
    let (db, log) = watched(db);
    let tree = db.tree::<ByAll>();
    let edges = (1..=3_000).map(|id| {
        let parent = (id > 1).then(|| Ref::<ByAll>::from(id / 2));
        (ByAll::node(id), parent)
    });
    let done = tree.insert_edges(edges).await.unwrap();
    assert_eq!(done.inserted, 3_000);
    let inserts = log
        .lock()
        .unwrap()
        .iter()
        .filter(|sent| sent.contains_key("insert"))
        .count();
    assert_eq!(inserts, 1);
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
}
