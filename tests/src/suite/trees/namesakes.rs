//! Changes of trees with `unique_among_siblings`: legal ones of nodes with equal names succeed, and others are refused
//! before they write.

use std::fmt::Write as _;

use odm::bson::{Document as BsonDocument, doc};
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::query::raw;
use odm::tree::prelude::*;
use odm::tree::{ChangeTree, DeclaredTree, OrderedSiblings, SingleParent, TreeDelete};

use super::operations::State;
use super::stops::{documents, is_fence, statements};
use crate::case::cases;
use crate::suite::relations::watched;

cases![
    namesakes_by_parent,
    namesakes_by_path,
    namesakes_by_children_and_parent,
    namesakes_by_bounds_and_parent,
    namesakes_by_ancestors_and_path_in_scopes,
];

trait Named: SingleParent + OrderedSiblings + DeclaredTree<Model: Document<Id = i32>> {
    fn node(id: i32, name: &str) -> Self::Model;

    fn name(node: &Self::Model) -> &str;
}

macro_rules! models {
    ($($model:ident($collection:literal, $($tree:tt)*) { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(collection = $collection, tree($($tree)*))]
        struct $model {
            #[serde(rename = "_id")]
            id: i32,
            $($field: $ty,)*
            name: String,
        }

        impl Named for $model {
            fn node(id: i32, name: &str) -> Self {
                Self {
                    id,
                    $($field: Default::default(),)*
                    name: name.to_owned(),
                }
            }

            fn name(node: &Self) -> &str {
                &node.name
            }
        }
    )*};
}

models! {
    ByParent("names_by_parent", parent_references, order = rank, unique_among_siblings(name)) {
        parent: Parent<ByParent>, rank: Rank
    }
    ByPath("names_by_path", materialized_path, order = rank, unique_among_siblings(name)) {
        path: Materialized<ByPath>, rank: Rank
    }
    ByChildren("names_by_children", child_references, parent = parent, count(descendants = below), unique_among_siblings(name)) {
        children: Children<ByChildren>, parent: Parent<ByChildren>, below: NodeCount
    }
    ByBounds("names_by_bounds", nested_sets, parent = parent, unique_among_siblings(name)) {
        left: Left, right: Right, parent: Parent<ByBounds>
    }
    ByScope("names_by_scope", array_of_ancestors, path = path, depth = depth, order = rank, scope = shop, unique_among_siblings(name)) {
        shop: i32, ancestors: Ancestors<ByScope>, path: Materialized<ByScope>, depth: Depth, rank: Rank
    }
}

async fn namesakes_by_parent(db: &Db) {
    namesakes::<ByParent>(db).await;
}

async fn namesakes_by_path(db: &Db) {
    namesakes::<ByPath>(db).await;
}

async fn namesakes_by_children_and_parent(db: &Db) {
    namesakes::<ByChildren>(db).await;
}

async fn namesakes_by_bounds_and_parent(db: &Db) {
    namesakes::<ByBounds>(db).await;
}

async fn namesakes_by_ancestors_and_path_in_scopes(db: &Db) {
    namesakes::<ByScope>(db).await;
}

/// Each node with its parent and its name.
const SAMPLE: [(i32, i32, &str); 11] = [
    (1, 0, "left"),
    (2, 0, "right"),
    (10, 1, "a"),
    (11, 10, "a"),
    (12, 11, "b"),
    (13, 1, "b"),
    (14, 13, "c"),
    (20, 2, "a"),
    (21, 2, "d"),
    (22, 21, "a"),
    (23, 21, "right"),
];

async fn plant<D: Named>(db: &Db) -> Tree<D> {
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let tree = db.tree::<D>();
    let edges = SAMPLE.map(|(id, parent, name)| {
        let parent = (parent != 0).then(|| Ref::<D::Model>::from(parent));
        (D::node(id, name), parent)
    });
    tree.insert_edges(edges).await.unwrap();
    tree
}

/// The tree as text, by ids; roots without a declared order are in the order of their text.
async fn text<D: Named>(tree: &Tree<D>) -> String {
    let nodes = tree.all().all().await.unwrap();
    let branches = tree.arrange(nodes).unwrap();
    let lines = branches.iter().map(|branch| {
        let mut line = String::new();
        branch.visit(&mut |node, level| {
            let id = node.id();
            write!(line, "{level}:{id}{} ", D::name(node)).unwrap();
        });
        line
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines.concat()
}

type Make<D> = fn(&Tree<D>) -> ChangeTree<'static, D>;

fn node<D: Named>(id: i32) -> Ref<D::Model> {
    Ref::from(id)
}

async fn namesakes<D: Named>(db: &Db) {
    let tree = plant::<D>(db).await;
    let before = State::read::<D::Model>(db).await;
    let legal: [Make<D>; 4] = [
        // The first has a child of this name, too.
        |tree| tree.swap(node::<D>(10), node::<D>(20)),
        |tree| tree.swap(node::<D>(20), node::<D>(11)),
        |tree| tree.delete(node::<D>(10)).policy(TreeDelete::Adopt).into(),
        |tree| tree.swap(node::<D>(14), node::<D>(21)),
    ];
    for (number, make) in legal.into_iter().enumerate() {
        before.restore(db).await;
        let original = text(&tree).await;
        make(&tree).await.unwrap();
        let report = tree.check().await.unwrap();
        assert!(report.is_sound(), "{number}: {report}");
        let changed = text(&tree).await;
        assert_ne!(original, changed, "{number}");
        before.restore(db).await;
        stops(db, make, (&original, &changed)).await;
    }
    let refused: [Make<D>; 4] = [
        |tree| tree.delete(node::<D>(21)).policy(TreeDelete::Adopt).into(),
        |tree| {
            tree.delete(node::<D>(21))
                .policy(TreeDelete::MakeRoots)
                .into()
        },
        |tree| tree.move_to(node::<D>(22), Position::child_of(node::<D>(2))),
        |tree| tree.swap(node::<D>(13), node::<D>(22)),
    ];
    for (number, make) in refused.into_iter().enumerate() {
        before.restore(db).await;
        let atomic = make(&tree).await.unwrap_err();
        assert!(atomic.is_duplicate_key(), "{number}: {atomic}");
        assert_eq!(State::read::<D::Model>(db).await.nodes, before.nodes);
        let error = make(&tree).non_atomic().await.unwrap_err();
        assert!(error.is_duplicate_key(), "{number}: {error}");
        assert_eq!(error.tree_refusal(), Some(TreeRefusal::Taken), "{error}");
        assert!(error.to_string().contains("`name`"), "{error}");
        assert_eq!(State::read::<D::Model>(db).await.nodes, before.nodes);
        let report = tree.check().await.unwrap();
        assert!(report.is_sound(), "{number}: {report}");
        // The tree is not locked.
        let free = Position::child_of(node::<D>(14));
        tree.insert(D::node(40, "new"), free).await.unwrap();
    }
    before.restore(db).await;
    renamed_in_between::<D>(db, &tree).await;
    before.restore(db).await;
    orphaned(&tree).await;
}

/// A change that stops after any of its writes is completed or taken back.
async fn stops<D: Named>(db: &Db, make: Make<D>, texts: (&str, &str)) {
    let tree = db.tree::<D>();
    let before = State::read::<D::Model>(db).await;
    let sent = sent(db, make).await;
    for is_reversed in [false, true] {
        before.restore(db).await;
        for command in &sent {
            for single in statements(command) {
                for single in documents(db, single, is_reversed).await {
                    db.run_command(single.clone()).await.unwrap();
                    let state = State::read::<D::Model>(db).await;
                    repaired(&tree, &single, texts).await;
                    state.restore(db).await;
                }
            }
        }
        assert_eq!(text(&tree).await, texts.1);
    }
}

/// The commands of a change without a transaction, from its fence on.
async fn sent<D: Named>(db: &Db, make: Make<D>) -> Vec<BsonDocument> {
    let (watched, log) = watched(db);
    make(&watched.tree()).non_atomic().await.unwrap();
    let sent = std::mem::take(&mut *log.lock().unwrap());
    let from = sent.iter().position(is_fence).unwrap();
    // A batch belongs to a cursor of the change.
    let commands = sent[from..]
        .iter()
        .filter(|command| !command.contains_key("getMore"));
    commands.cloned().collect()
}

async fn repaired<D: Named>(tree: &Tree<D>, last: &BsonDocument, texts: (&str, &str)) {
    let plan = tree.repair().await.unwrap();
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert!(applied.is_complete(), "after {last}: {plan}\n{applied}");
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "after {last}: {plan}: {report}");
    let repaired = text(tree).await;
    assert!(
        repaired == texts.0 || repaired == texts.1,
        "after {last}: {plan}: {repaired} of {texts:?}"
    );
}

/// A change stops, and another writer takes the name that it needs: `repair` says so, and completes the change when the name is
/// free again.
async fn renamed_in_between<D: Named>(db: &Db, tree: &Tree<D>) {
    let before = State::read::<D::Model>(db).await;
    let adopt: Make<D> = |tree| tree.delete(node::<D>(10)).policy(TreeDelete::Adopt).into();
    let sent = sent(db, adopt).await;
    let after = text(tree).await;
    before.restore(db).await;
    for command in &sent {
        db.run_command(command.clone()).await.unwrap();
        if command.contains_key("delete") {
            break;
        }
    }
    let rename = async |name: &str| {
        let set = doc! {"$set": {"name": name}};
        let nodes = tree.collection();
        let renamed = nodes.update_one(|_| raw(doc! {"_id": 13}), |_| raw(set));
        assert_eq!(renamed.await.unwrap().modified, 1);
    };
    rename("a").await;
    let error = tree.repair().await.unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::Taken), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("11") && message.contains("13"),
        "{message}"
    );
    rename("b").await;
    repaired(tree, &doc! {}, (&after, &after)).await;
}

/// An orphan becomes a root, unless a root has its name.
async fn orphaned<D: Named>(tree: &Tree<D>) {
    let nodes = tree.collection().bypass_trees();
    let deleted = nodes.delete_one(|_| raw(doc! {"_id": 21})).await.unwrap();
    assert_eq!(deleted.deleted, 1);
    let error = tree.repair().await.unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::Taken), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("23") && message.contains("`name`"),
        "{message}"
    );
    let set = doc! {"$set": {"name": "other"}};
    let renamed = nodes.update_one(|_| raw(doc! {"_id": 23}), |_| raw(set));
    assert_eq!(renamed.await.unwrap().modified, 1);
    let plan = tree.repair().await.unwrap();
    assert!(plan.apply(Allow::WRITE).await.unwrap().is_complete());
    assert!(tree.check().await.unwrap().is_sound());
    assert!(tree.is_root(node::<D>(23)).await.unwrap());
}
