//! Trees of documents that another program wrote: numbers of other types, and scopes that are missing.

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm::tree::TreeDelete;
use odm::tree::prelude::*;

use crate::case::cases;

cases![
    scopes_are_equal_as_numbers,
    nodes_without_a_scope_are_a_tree_of_their_own,
    listed_ids_are_equal_as_numbers,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "foreign_bounds",
    tree(nested_sets, parent = parent, scope = shop)
)]
struct Bounds {
    #[serde(rename = "_id")]
    id: i32,
    shop: Option<i32>,
    parent: Parent<Bounds>,
    left: Left,
    right: Right,
}

fn bounds(id: i32, shop: Option<i32>) -> Bounds {
    Bounds {
        id,
        shop,
        parent: Parent::default(),
        left: Left::default(),
        right: Right::default(),
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "foreign_lists", tree(child_references, parent = parent))]
struct Listed {
    #[serde(rename = "_id")]
    id: i32,
    children: Children<Listed>,
    parent: Parent<Listed>,
}

async fn write(db: &Db, collection: &str, documents: Vec<BsonDocument>) {
    let command = doc! {"insert": collection, "documents": documents};
    db.run_command(command).await.unwrap();
}

async fn stored_bounds(tree: &Tree<Bounds>) -> Vec<(i32, i64, i64)> {
    let nodes = tree.collection().find_all().sort(|b| b.id.asc()).all();
    let nodes = nodes.await.unwrap();
    let bounds = |node: &Bounds| (node.id, node.left.get(), node.right.get());
    nodes.iter().map(bounds).collect()
}

async fn scopes_are_equal_as_numbers(db: &Db) {
    let first = doc! {"_id": 1, "shop": 1_i64, "parent": null, "left": 1, "right": 2};
    let second = doc! {"_id": 2, "shop": 1, "parent": null, "left": 3, "right": 4};
    write(db, "foreign_bounds", vec![first, second]).await;
    let tree = db.tree::<Bounds>();
    assert!(tree.check().await.unwrap().is_sound());
    tree.insert(bounds(3, Some(1)), Position::child_of(Ref::from(1)))
        .await
        .unwrap();
    assert_eq!(
        stored_bounds(&tree).await,
        [(1, 1, 4), (2, 5, 6), (3, 2, 3)]
    );
    tree.move_to(Ref::from(2), Position::before(Ref::from(1)))
        .await
        .unwrap();
    tree.swap(Ref::from(3), Ref::from(2)).await.unwrap();
    assert_eq!(tree.roots().ids().await.unwrap(), [3, 1]);
    assert!(tree.are_siblings(Ref::from(1), Ref::from(3)).await.unwrap());
    let branches = tree.all().branches().await.unwrap();
    assert_eq!((branches.len(), branches[1].len()), (2, 2));
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert!(tree.repair().await.unwrap().is_empty());
}

async fn nodes_without_a_scope_are_a_tree_of_their_own(db: &Db) {
    let without = doc! {"_id": 1, "parent": null, "left": 1, "right": 2};
    let shop = doc! {"_id": 2, "shop": 1, "parent": null, "left": 1, "right": 2};
    write(db, "foreign_bounds", vec![without, shop]).await;
    let tree = db.tree::<Bounds>();
    tree.insert(bounds(3, None), Position::first_child_of(Ref::from(1)))
        .await
        .unwrap();
    tree.insert(bounds(4, None), Position::before(Ref::from(1)))
        .await
        .unwrap();
    assert_eq!(
        stored_bounds(&tree).await,
        [(1, 3, 6), (2, 1, 2), (3, 4, 5), (4, 1, 2)]
    );
    assert_eq!(tree.siblings(Ref::from(1)).ids().await.unwrap(), [4]);
    assert!(tree.check().await.unwrap().is_sound());
}

async fn listed_ids_are_equal_as_numbers(db: &Db) {
    let documents = [
        doc! {"_id": 1, "parent": null, "children": [4_i64, 2_i64, 3_i64]},
        doc! {"_id": 2, "parent": 1_i64, "children": [6_i64, 5_i64]},
        doc! {"_id": 3, "parent": 1_i64, "children": []},
        doc! {"_id": 4, "parent": 1_i64, "children": []},
        doc! {"_id": 5, "parent": 2_i64, "children": []},
        doc! {"_id": 6, "parent": 2_i64, "children": []},
    ];
    write(db, "foreign_lists", documents.to_vec()).await;
    let tree = db.tree::<Listed>();
    let node = |id: i32| Ref::<Listed>::from(id);
    assert!(tree.check().await.unwrap().is_sound());
    let common = tree.lowest_common_ancestor([node(5), node(6)]).await;
    assert_eq!(common.unwrap(), Some(2));
    let common = tree.lowest_common_ancestor([node(5), node(3)]).await;
    assert_eq!(common.unwrap(), Some(1));
    tree.move_to(node(4), Position::child_at(node(1), 1))
        .await
        .unwrap();
    assert_eq!(tree.children(node(1)).ids().await.unwrap(), [2, 4, 3]);
    tree.delete(node(2))
        .policy(TreeDelete::Adopt)
        .await
        .unwrap();
    assert_eq!(tree.children(node(1)).ids().await.unwrap(), [6, 5, 4, 3]);
    let sorted = tree.sorted_child_of(node(1), |l| l.id.lt(6));
    tree.move_to(node(3), sorted).await.unwrap();
    assert_eq!(tree.children(node(1)).ids().await.unwrap(), [6, 3, 5, 4]);
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
}
