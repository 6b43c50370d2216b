//! Declared trees: the categories of MongoDB's data model guide in each pattern, and what every option adds.

use std::fmt::Debug;

use odm::bson::{Bson, Document as BsonDocument, doc, serialize_to_document};
use odm::model::{ModelMeta, TreeMeta};
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{DeclaredTree, Pattern, TreeDelete};

use crate::case::cases;

cases![
    parent_references,
    child_references,
    arrays_of_ancestors,
    materialized_paths,
    nested_sets,
    options_add_indexes_and_rules,
    declared_indexes_serve_a_tree,
    several_trees_have_names,
    graphs_keep_children,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct ByParent {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<ByParent>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references))]
struct ByChildren {
    #[serde(rename = "_id")]
    id: String,
    children: Children<ByChildren>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(array_of_ancestors, parent = parent, max_depth = 4)
)]
struct ByAncestors {
    #[serde(rename = "_id")]
    id: String,
    ancestors: Ancestors<ByAncestors>,
    parent: Parent<ByAncestors>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path))]
struct ByPath {
    #[serde(rename = "_id")]
    id: String,
    path: Materialized<ByPath>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets, parent = parent))]
struct ByBounds {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<ByBounds, ZeroRoot>,
    left: Left,
    right: Right,
}

/// Creates what a model declares, and returns the names of the indexes.
async fn created(db: &Db, model: &'static ModelMeta) -> Vec<String> {
    let plan = db.sync([model]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    let again = db.sync([model]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    let list = doc! {"listIndexes": model.collection};
    let listed = db.run_command(list).all().await.unwrap();
    let names = listed.iter().map(|index| index.get_str("name").unwrap());
    names
        .filter(|name| *name != "_id_")
        .map(str::to_owned)
        .collect()
}

/// The code of the error with which the validator or an index refuses a document; `None` if the document is stored.
async fn refusal(db: &Db, document: BsonDocument) -> Option<i32> {
    let insert = doc! {"insert": "categories", "documents": [document]};
    let reply = db.run_command(insert).await.unwrap();
    let errors = reply.get_array("writeErrors").ok()?;
    Some(errors[0].as_document().unwrap().get_i32("code").unwrap())
}

const VALIDATION_FAILURE: Option<i32> = Some(121);
const DUPLICATE_KEY: Option<i32> = Some(11000);

/// Stores documents as the guide shows them, reads them as models, and stores the models as the same documents.
async fn stored_and_read<D>(db: &Db, indexes: &[&str], shown: &[BsonDocument])
where
    D: Document + PartialEq + Debug,
{
    assert_eq!(created(db, D::model()).await, indexes);
    for document in shown {
        assert_eq!(refusal(db, document.clone()).await, None, "{document}");
    }
    let read = db.collection::<D>().find_all();
    let read: Vec<D> = read.all().await.unwrap();
    assert_eq!(read.len(), shown.len());
    for model in &read {
        let encoded = serialize_to_document(model).unwrap();
        let same = |document: &&BsonDocument| document.get("_id") == encoded.get("_id");
        let document = shown.iter().find(same).unwrap();
        let fields = |document: &BsonDocument| -> Vec<(String, Bson)> {
            document.clone().into_iter().collect()
        };
        assert_eq!(fields(&encoded), fields(document));
    }
}

async fn refuses(db: &Db, wrong: impl IntoIterator<Item = BsonDocument>) {
    for document in wrong {
        let code = refusal(db, document.clone()).await;
        assert_eq!(code, VALIDATION_FAILURE, "{document}");
    }
}

async fn parent_references(db: &Db) {
    let shown = [
        doc! {"_id": "Books", "parent": null},
        doc! {"_id": "Programming", "parent": "Books"},
        doc! {"_id": "Languages", "parent": "Programming"},
        doc! {"_id": "Databases", "parent": "Programming"},
        doc! {"_id": "MongoDB", "parent": "Databases"},
        doc! {"_id": "dbm", "parent": "Databases"},
    ];
    stored_and_read::<ByParent>(db, &["parent_1"], &shown).await;
    let wrong = [
        doc! {"_id": "a", "parent": 0},
        doc! {"_id": "a", "parent": ["Books"]},
        doc! {"_id": "a"},
    ];
    refuses(db, wrong).await;
}

async fn child_references(db: &Db) {
    let shown = [
        doc! {"_id": "Books", "children": ["Programming"]},
        doc! {"_id": "Programming", "children": ["Databases", "Languages"]},
        doc! {"_id": "Languages", "children": []},
        doc! {"_id": "Databases", "children": ["MongoDB", "dbm"]},
        doc! {"_id": "MongoDB", "children": []},
        doc! {"_id": "dbm", "children": []},
    ];
    stored_and_read::<ByChildren>(db, &["children_1"], &shown).await;
    let children = |count: i32| -> Vec<String> { (0..count).map(|it| it.to_string()).collect() };
    let most = doc! {"_id": "most", "children": children(5_000)};
    assert_eq!(refusal(db, most).await, None);
    let wrong = [
        doc! {"_id": "a", "children": children(5_001)},
        doc! {"_id": "a", "children": ["b", "b"]},
        doc! {"_id": "a", "children": [1]},
        doc! {"_id": "a", "children": null},
    ];
    refuses(db, wrong).await;
}

async fn arrays_of_ancestors(db: &Db) {
    let shown = [
        doc! {"_id": "Books", "ancestors": [], "parent": null},
        doc! {"_id": "Programming", "ancestors": ["Books"], "parent": "Books"},
        doc! {"_id": "Languages", "ancestors": ["Books", "Programming"], "parent": "Programming"},
        doc! {"_id": "Databases", "ancestors": ["Books", "Programming"], "parent": "Programming"},
        doc! {"_id": "MongoDB", "ancestors": ["Books", "Programming", "Databases"], "parent": "Databases"},
        doc! {"_id": "dbm", "ancestors": ["Books", "Programming", "Databases"], "parent": "Databases"},
    ];
    stored_and_read::<ByAncestors>(db, &["parent_1", "ancestors_1"], &shown).await;
    let wrong = [
        doc! {"_id": "a", "ancestors": ["b", "b"], "parent": "b"},
        doc! {"_id": "a", "ancestors": ["b", "c", "d", "e", "f"], "parent": "f"},
        doc! {"_id": "a", "ancestors": ",b,", "parent": "b"},
    ];
    refuses(db, wrong).await;
}

async fn materialized_paths(db: &Db) {
    let shown = [
        doc! {"_id": "Books", "path": null},
        doc! {"_id": "Programming", "path": ",Books,"},
        doc! {"_id": "Languages", "path": ",Books,Programming,"},
        doc! {"_id": "Databases", "path": ",Books,Programming,"},
        doc! {"_id": "MongoDB", "path": ",Books,Programming,Databases,"},
        doc! {"_id": "dbm", "path": ",Books,Programming,Databases,"},
    ];
    stored_and_read::<ByPath>(db, &["path_1"], &shown).await;
    let paths = ["Books", ",Books", "Books,", ",", ",,", ""];
    refuses(db, paths.map(|path| doc! {"_id": "a", "path": path})).await;
    refuses(
        db,
        [doc! {"_id": "a"}, doc! {"_id": "a", "path": ["Books"]}],
    )
    .await;
}

async fn nested_sets(db: &Db) {
    let shown = [
        doc! {"_id": "Books", "parent": 0, "left": 1, "right": 12},
        doc! {"_id": "Programming", "parent": "Books", "left": 2, "right": 11},
        doc! {"_id": "Languages", "parent": "Programming", "left": 3, "right": 4},
        doc! {"_id": "Databases", "parent": "Programming", "left": 5, "right": 10},
        doc! {"_id": "MongoDB", "parent": "Databases", "left": 6, "right": 7},
        doc! {"_id": "dbm", "parent": "Databases", "left": 8, "right": 9},
    ];
    stored_and_read::<ByBounds>(db, &["parent_1", "left_1"], &shown).await;
    let wrong = [
        doc! {"_id": "a", "parent": 0, "left": 0, "right": 1},
        doc! {"_id": "a", "parent": 0, "left": 13, "right": 14.5},
        doc! {"_id": "a", "parent": 0, "left": 13},
    ];
    refuses(db, wrong).await;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(
        materialized_path,
        path = lineage,
        order = rank,
        scope = shop,
        depth = level,
        count(children = size, descendants = total),
        max_depth = 3,
        on_delete = make_roots,
        unique_among_siblings(name)
    )
)]
#[serde(rename_all = "UPPERCASE")]
struct WithOptions {
    #[serde(rename = "_id")]
    id: i32,
    shop: String,
    lineage: Materialized<WithOptions>,
    rank: Rank,
    level: Depth,
    size: NodeCount,
    total: NodeCount,
    name: String,
}

async fn options_add_indexes_and_rules(db: &Db) {
    let tree = WithOptions::TREE;
    assert_eq!(tree.name, "");
    assert_eq!(tree.pattern, Pattern::MaterializedPath);
    assert_eq!(tree.path.map(|(field, _)| field), Some("LINEAGE"));
    let fields = [tree.order, tree.scope, tree.depth];
    assert_eq!(fields, [Some("RANK"), Some("SHOP"), Some("LEVEL")]);
    let counts = [tree.child_count, tree.descendant_count];
    assert_eq!(counts, [Some("SIZE"), Some("TOTAL")]);
    assert_eq!(tree.max_depth, Some(3));
    assert_eq!(tree.on_delete, TreeDelete::MakeRoots);
    assert!(tree.is_ordered() && !tree.is_graph);

    let indexes = ["SHOP_1_LINEAGE_1_RANK_1", "SHOP_1_LINEAGE_1_NAME_1"];
    assert_eq!(created(db, WithOptions::model()).await, indexes);
    let node = |id: i32, changed: BsonDocument| {
        let mut node = doc! {
            "_id": id, "SHOP": "here", "LINEAGE": null, "RANK": "n0", "LEVEL": 0, "SIZE": 0, "TOTAL": 0, "NAME": "a",
        };
        node.extend(changed);
        node
    };
    assert_eq!(refusal(db, node(1, doc! {})).await, None);
    let elsewhere = [
        doc! {"SHOP": "there"},
        doc! {"LINEAGE": ",1,", "LEVEL": 3},
        doc! {"NAME": "b"},
    ];
    for (id, changed) in (2..).zip(elsewhere) {
        assert_eq!(refusal(db, node(id, changed)).await, None);
    }
    let sibling = refusal(db, node(9, doc! {"RANK": "n1"})).await;
    assert_eq!(sibling, DUPLICATE_KEY);
    let wrong = [
        doc! {"LEVEL": -1},
        doc! {"LEVEL": 4},
        doc! {"SIZE": -1},
        doc! {"TOTAL": -1},
        doc! {"RANK": 1},
    ];
    refuses(db, wrong.map(|changed| node(9, changed))).await;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(nested_sets, parent = parent, unique_among_siblings(name)),
    index(left = desc, name)
)]
struct Indexed {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Indexed>,
    left: Left,
    right: Right,
    name: String,
}

async fn declared_indexes_serve_a_tree(db: &Db) {
    // The unique index serves searches by parent, and the declared one searches by the left bound.
    let indexes = created(db, Indexed::model()).await;
    assert_eq!(indexes, ["left_-1_name_1", "parent_1_name_1"]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(parent_references, scope = shop, name = ByRegion),
    tree(array_of_ancestors, ancestors = subjects, scope = shop, name = BySubject)
)]
struct Twice {
    #[serde(rename = "_id")]
    id: i32,
    shop: String,
    parent: Parent<Twice>,
    subjects: Ancestors<Twice>,
}

async fn several_trees_have_names(db: &Db) {
    let names = |trees: &[&'static TreeMeta]| -> Vec<_> {
        trees.iter().map(|tree| (tree.name, tree.pattern)).collect()
    };
    let expected = [
        ("ByRegion", Pattern::ParentReferences),
        ("BySubject", Pattern::ArrayOfAncestors),
    ];
    assert_eq!(names(Twice::model().trees), expected);
    assert_eq!(names(&[ByRegion::TREE, BySubject::TREE]), expected);
    let indexes = created(db, Twice::model()).await;
    assert_eq!(indexes, ["shop_1_parent_1", "shop_1_subjects_1"]);
    let node = |id| Twice {
        id,
        shop: "here".to_owned(),
        parent: Parent::default(),
        subjects: Ancestors::default(),
    };
    let regions = db.tree::<ByRegion>();
    regions.insert(node(1), Position::root()).await.unwrap();
    let below = Position::child_of(Ref::from(1));
    regions.insert(node(2), below).await.unwrap();
    let (parent, child) = (Ref::from(1), Ref::from(2));
    let is_parent = regions.is_parent_of(parent, child).await.unwrap();
    let subjects = db.tree::<BySubject>();
    assert!(is_parent && subjects.is_root(Ref::from(2)).await.unwrap());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "categories",
    tree(child_references, children = parts, graph, max_children = 2)
)]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    parts: Children<Part>,
}

async fn graphs_keep_children(db: &Db) {
    assert!(Part::TREE.is_graph);
    assert_eq!(created(db, Part::model()).await, ["parts_1"]);
    for (id, parts) in [(1, vec![3]), (2, vec![3, 4])] {
        let stored = refusal(db, doc! {"_id": id, "parts": parts}).await;
        assert_eq!(stored, None);
    }
    refuses(db, [doc! {"_id": 5, "parts": [1, 2, 3]}]).await;
}
