//! Paths of names, and counts by depth.

use std::collections::BTreeMap;

use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::query::raw;
use odm::tree::prelude::*;

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, TestTree,
};
use super::plain::{Place, Plain};
use super::random::Random;
use crate::case::cases;
use crate::suite::relations::watched;

cases![
    names_lead_to_nodes,
    names_of_several_siblings_are_followed,
    missing_nodes_are_inserted_once,
    names_stay_in_their_scope,
    paths_of_names_need_a_name,
    nodes_are_counted_by_depth,
    a_filter_finds_paths_through_a_node,
];

macro_rules! for_each_pattern {
    ($function:ident, $db:expr) => {
        $function::<ByParent>($db).await;
        $function::<ByChildren>($db).await;
        $function::<ByAncestors>($db).await;
        $function::<ByPath>($db).await;
        $function::<ByBounds>($db).await;
        $function::<ByBoundsAndParent>($db).await;
        $function::<ByAll>($db).await;
    };
}

async fn names_lead_to_nodes(db: &Db) {
    for_each_pattern!(walked, db);
}

/// 1 and 5 are roots; 3 is below 2, which is below 1.
async fn walked<D: TestTree>(db: &Db) {
    let tree = db.tree::<D>();
    let edges = [(1, 0), (2, 1), (3, 2), (4, 1), (5, 0), (6, 5)];
    let edges = edges.map(|(id, parent)| {
        let parent = (parent != 0).then(|| Ref::<D::Model>::from(parent));
        (D::node(id), parent)
    });
    tree.insert_edges(edges).await.unwrap();
    for (names, expected) in [
        (&[1][..], Some(1)),
        (&[5, 6], Some(6)),
        (&[1, 2, 3], Some(3)),
        (&[2], None),
        (&[1, 3], None),
        (&[5, 2, 3], None),
        (&[1, 2, 3, 4], None),
        (&[], None),
    ] {
        let names = names.iter().map(|id| format!("node {id}"));
        let found = tree.find_by_names(D::label, names).await.unwrap();
        assert_eq!(found.map(|node| *node.id()), expected);
    }
    let below = tree.find_by_names(D::label, ["node 2", "node 3"]);
    let found = below.below(Ref::from(1)).await.unwrap();
    assert_eq!(found.map(|node| *node.id()), Some(3));
    let below = tree.find_by_names(D::label, ["node 3"]).below(Ref::from(1));
    assert!(below.await.unwrap().is_none());
    let missing = tree.find_by_names(D::label, ["node 3"]).below(Ref::from(9));
    let error = missing.await.err().unwrap();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::NotFound));
}

/// Nodes with a name that is not their id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "folders",
    tree(materialized_path, order = rank, scope = disk, max_depth = 3)
)]
struct Folder {
    #[serde(rename = "_id")]
    id: Id<Folder>,
    disk: String,
    path: Materialized<Folder>,
    rank: Rank,
    name: String,
}

fn folder(disk: &str, name: &str) -> Folder {
    Folder {
        id: Id::new(),
        disk: disk.to_owned(),
        path: Materialized::default(),
        rank: Rank::default(),
        name: name.to_owned(),
    }
}

async fn names_of_several_siblings_are_followed(db: &Db) {
    let tree = db.tree::<Folder>();
    let insert = async |name: &str, position| {
        let inserted = tree.insert(folder("c", name), position).await;
        inserted.unwrap().node
    };
    let first = insert("src", Position::root()).await;
    let second = insert("src", Position::root()).await;
    let lib = insert("lib.rs", Position::child_of(&second)).await;
    let found = tree.find_by_names(|f| f.name, ["src"]).await.unwrap();
    assert_eq!(found, Some(first));
    let found = tree.find_by_names(|f| f.name, ["src", "lib.rs"]).await;
    assert_eq!(found.unwrap(), Some(lib));
}

async fn missing_nodes_are_inserted_once(db: &Db) {
    db.sync([Folder::model()])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let tree = db.tree::<Folder>();
    let new = |name: &&str| folder("c", name);
    let calls = (0..4).map(|_| {
        tree.find_or_insert_by_names(|f| f.name, ["usr", "share", "doc"], new)
            .into_future()
    });
    let found = futures::future::join_all(calls).await;
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    assert!(found.iter().all(|each| each.node == found[0].node));
    let inserted: u64 = found.iter().map(|each| each.written.inserted).sum();
    assert_eq!(inserted, 3);

    let more = tree.find_or_insert_by_names(|f| f.name, ["usr", "lib"], new);
    assert_eq!(more.await.unwrap().written.inserted, 1);
    let doc = tree.find_by_names(|f| f.name, ["usr", "share"]).await;
    let below = tree
        .find_or_insert_by_names(|f| f.name, ["man"], new)
        .below(&doc.unwrap().unwrap());
    let man = below.non_atomic().await.unwrap().node;
    let names = tree.path(&man).all().await.unwrap();
    let names: Vec<_> = names.iter().map(|folder| folder.name.as_str()).collect();
    assert_eq!(names, ["usr", "share", "man"]);

    let (log_db, log) = watched(db);
    let tree = log_db.tree::<Folder>();
    let again = tree.find_or_insert_by_names(|f| f.name, ["usr", "share", "man"], new);
    let again = again.await.unwrap();
    assert_eq!((again.node, again.written.inserted), (man, 0));
    let commands = std::mem::take(&mut *log.lock().unwrap());
    assert!(commands.iter().all(|sent| sent.contains_key("find")));
    assert_eq!(commands.len(), 4);

    let deep = tree.find_or_insert_by_names(|f| f.name, ["usr", "share", "doc", "a", "b"], new);
    let refusal = deep.await.unwrap_err().tree_refusal();
    assert_eq!(refusal, Some(TreeRefusal::TooDeep));
    assert_eq!(tree.all().count().await.unwrap(), 5);
}

async fn names_stay_in_their_scope(db: &Db) {
    let tree = db.tree::<Folder>();
    let names = ["usr", "lib"];
    let on = |disk: &'static str| {
        let new = move |name: &&str| folder(disk, name);
        tree.find_or_insert_by_names(|f| f.name, names, new)
    };
    let first = on("c").await.unwrap();
    let second = on("d").await.unwrap();
    assert_eq!((first.written.inserted, second.written.inserted), (2, 2));
    let found = tree
        .find_by_names(|f| f.name, names)
        .filter(|f| f.disk.eq("d"));
    assert_eq!(found.await.unwrap(), Some(second.node));

    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let aborted = on("e").session(&mut session).await.unwrap();
    assert_eq!(aborted.written.inserted, 2);
    session.abort_transaction().await.unwrap();
    assert_eq!(tree.all().count().await.unwrap(), 4);
}

async fn paths_of_names_need_a_name(db: &Db) {
    let tree = db.tree::<Folder>();
    let none = tree.find_or_insert_by_names(|f| f.name, [""; 0], |name| folder("c", name));
    let error = none.await.unwrap_err();
    assert!(error.to_string().contains("needs a name"), "{error}");
}

async fn nodes_are_counted_by_depth(db: &Db) {
    for_each_pattern!(counted, db);
}

async fn counted<D: TestTree>(db: &Db) {
    let mut random = Random::new(4);
    let mut plain = Plain::default();
    for id in 1..=40 {
        let ids = plain.ids();
        let parent = if id < 3 { 0 } else { random.of(&ids) };
        plain.insert(id, Place::LastOf(parent));
    }
    let tree = db.tree::<D>();
    let edges = plain.ids().into_iter().map(|id| {
        let parent = plain.parent(id);
        let parent = (parent != 0).then(|| Ref::<D::Model>::from(parent));
        (D::node(id), parent)
    });
    tree.insert_edges(edges).await.unwrap();
    let counts = |ids: Vec<i32>| {
        let mut counts = BTreeMap::new();
        for id in ids {
            let depth = u32::try_from(plain.ancestors(id).len()).unwrap();
            *counts.entry(depth).or_insert(0) += 1;
        }
        counts
    };
    let all = tree.all().counts_by_depth().await.unwrap();
    assert_eq!(all, counts(plain.ids()));
    let below = tree.descendants(Ref::from(1)).counts_by_depth().await;
    assert_eq!(below.unwrap(), counts(plain.below(1)));
    let odd = tree
        .all()
        .filter(|_| raw(odm::bson::doc! {"_id": {"$mod": [2, 1]}}));
    let expected = plain.ids().into_iter().filter(|id| id % 2 == 1).collect();
    assert_eq!(odd.counts_by_depth().await.unwrap(), counts(expected));
}

async fn a_filter_finds_paths_through_a_node(db: &Db) {
    let tree = db.tree::<ByPath>();
    let edges = [(1, 0), (2, 1), (12, 2), (21, 12), (22, 0)];
    let edges = edges.map(|(id, parent)| {
        let parent = (parent != 0).then(|| Ref::<ByPath>::from(parent));
        (ByPath::node(id), parent)
    });
    tree.insert_edges(edges).await.unwrap();
    let through = async |id: i32| {
        let nodes = tree.all().filter(|n| n.path.passes_through(Ref::from(id)));
        nodes.pre_order().ids().await.unwrap()
    };
    assert_eq!(through(2).await, [12, 21]);
    assert_eq!(through(1).await, [2, 12, 21]);
    assert!(through(22).await.is_empty());
}
