//! Conversions from each pattern to another.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::error::TreeRefusal;
use odm::model::Embedded;
use odm::prelude::*;
use odm::query::Field;
use odm::query::raw;
use odm::tree::DeclaredTree;
use odm::tree::prelude::*;

use super::models::TestTree;
use super::plain::{Place, Plain};
use super::random::{Random, changes_of, compare};
use crate::case::cases;

cases![
    conversions_lead_through_all_patterns,
    conversions_are_resumed,
    conversions_find_later_changes,
    a_removal_is_resumed,
    trees_that_do_not_fit_are_not_converted,
    trees_of_one_model_are_converted,
    errors_name_the_tree,
    a_load_into_several_scopes_of_another_tree_is_refused,
];

macro_rules! models {
    ($($model:ident($($tree:tt)*) { $($field:ident: $ty:ty),* })*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(collection = "converted", tree($($tree)*))]
        struct $model {
            #[serde(rename = "_id")]
            id: i32,
            $($field: $ty,)*
            label: String,
        }

        impl TestTree for $model {
            fn node(id: i32) -> Self {
                Self {
                    id,
                    $($field: Default::default(),)*
                    label: format!("node {id}"),
                }
            }

            fn label(fields: <Self as Embedded>::Fields<Self>) -> Field<Self, String> {
                fields.label
            }
        }
    )*};
}

models! {
    FromParents(parent_references, order = rank) { parent: Parent<FromParents>, rank: Rank }
    FromChildren(child_references, order = rank, count(children = size)) {
        children: Children<FromChildren>, rank: Rank, size: NodeCount
    }
    FromAncestors(array_of_ancestors, order = rank, depth = depth) {
        ancestors: Ancestors<FromAncestors>, rank: Rank, depth: Depth
    }
    FromPaths(materialized_path, order = rank) { path: Materialized<FromPaths>, rank: Rank }
    FromBounds(nested_sets) { left: Left, right: Right }
    FromZeros(nested_sets, parent = parent) { parent: Parent<FromZeros, ZeroRoot>, left: Left, right: Right }
    Shallow(materialized_path, order = rank, max_depth = 1) { path: Materialized<Shallow>, rank: Rank }
    Scopes(materialized_path, order = rank, scope = label) { path: Materialized<Scopes>, rank: Rank }
}

async fn load<D: TestTree>(db: &Db, plain: &Plain) {
    let edges = plain.below(0).into_iter().map(|id| {
        let parent = plain.parent(id);
        let parent = (parent != 0).then(|| Ref::<D::Model>::from(parent));
        (D::node(id), parent)
    });
    db.tree::<D>().insert_edges(edges).await.unwrap();
}

fn random_tree(count: i32) -> Plain {
    let mut random = Random::new(17);
    let mut plain = Plain::default();
    for id in 1..=count {
        let ids = plain.ids();
        let place = match random.below(4) {
            _ if ids.len() < 4 => Place::FirstOf(0),
            0 => Place::FirstOf(random.of(&ids)),
            1 => Place::Before(random.of(&ids)),
            _ => Place::LastOf(random.of(&ids)),
        };
        plain.insert(id, place);
    }
    plain
}

async fn stored(db: &Db) -> Vec<BsonDocument> {
    let all = db.collection::<FromPaths>().find_all();
    let all = all.sort(|node| node.id.asc());
    all.with_type::<BsonDocument>().all().await.unwrap()
}

/// Converts, removes the old fields, and changes the tree at random.
async fn convert<O: TestTree, N: TestTree>(db: &Db, plain: &mut Plain, seed: u64) {
    let (old, new) = (db.tree::<O>(), db.tree::<N>());
    let plan = new.convert_from(&old).await.unwrap();
    assert!(!plan.is_empty());
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!(applied.written(), plain.ids().len() as u64);
    let documents = stored(db).await;
    plain.assert_stored(O::TREE, &documents);
    plain.assert_stored(N::TREE, &documents);
    assert!(new.convert_from(&old).await.unwrap().is_empty());

    let plan = new.remove_fields_of(&old).await.unwrap();
    plan.apply(Allow::WRITE).await.unwrap();
    assert!(new.remove_fields_of(&old).await.unwrap().is_empty());
    let documents = stored(db).await;
    plain.assert_stored(N::TREE, &documents);
    let kept: Vec<&str> = N::TREE.fields().collect();
    for field in O::TREE.fields().filter(|field| !kept.contains(field)) {
        assert!(
            documents
                .iter()
                .all(|document| !document.contains_key(field))
        );
    }
    let report = new.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    let one = plain.ids()[3];
    compare(&new, plain, one, plain.ids()[7]).await;
    changes_of(
        &new,
        plain,
        &mut Random::new(seed),
        100 * i32::try_from(seed).unwrap(),
    )
    .await;
}

async fn conversions_lead_through_all_patterns(db: &Db) {
    let mut plain = random_tree(40);
    load::<FromParents>(db, &plain).await;
    convert::<FromParents, FromChildren>(db, &mut plain, 1).await;
    convert::<FromChildren, FromAncestors>(db, &mut plain, 2).await;
    convert::<FromAncestors, FromPaths>(db, &mut plain, 3).await;
    convert::<FromPaths, FromBounds>(db, &mut plain, 4).await;
    convert::<FromBounds, FromParents>(db, &mut plain, 5).await;
    convert::<FromParents, FromPaths>(db, &mut plain, 6).await;
    convert::<FromPaths, FromChildren>(db, &mut plain, 7).await;
    convert::<FromChildren, FromBounds>(db, &mut plain, 8).await;
    convert::<FromBounds, FromAncestors>(db, &mut plain, 9).await;
    convert::<FromAncestors, FromParents>(db, &mut plain, 10).await;
    convert::<FromParents, FromBounds>(db, &mut plain, 11).await;
    convert::<FromBounds, FromChildren>(db, &mut plain, 12).await;
    convert::<FromChildren, FromParents>(db, &mut plain, 13).await;
    convert::<FromParents, FromAncestors>(db, &mut plain, 14).await;
    convert::<FromAncestors, FromChildren>(db, &mut plain, 15).await;
    convert::<FromChildren, FromPaths>(db, &mut plain, 16).await;
    convert::<FromPaths, FromAncestors>(db, &mut plain, 17).await;
    convert::<FromAncestors, FromBounds>(db, &mut plain, 18).await;
    convert::<FromBounds, FromPaths>(db, &mut plain, 19).await;
    convert::<FromPaths, FromParents>(db, &mut plain, 20).await;
}

/// Sends the first writes of a plan, as if the process had ended then.
async fn apply_a_part(db: &Db, plan: &odm::plan::Plan, writes: usize) {
    let mut command = plan.commands().next().unwrap().clone();
    command.get_array_mut("updates").unwrap().truncate(writes);
    db.run_command(command).await.unwrap();
}

async fn conversions_are_resumed(db: &Db) {
    let plain = random_tree(30);
    load::<FromPaths>(db, &plain).await;
    let (old, new) = (db.tree::<FromPaths>(), db.tree::<FromBounds>());
    for left in [30, 20, 10] {
        let plan = new.convert_from(&old).await.unwrap();
        let command = plan.commands().next().unwrap();
        assert_eq!(command.get_array("updates").unwrap().len(), left);
        let early = new.remove_fields_of(&old).await.unwrap_err();
        assert_eq!(early.tree_refusal(), Some(TreeRefusal::Damaged));
        apply_a_part(db, &plan, 10).await;
    }
    assert!(new.convert_from(&old).await.unwrap().is_empty());
    plain.assert_stored(FromBounds::TREE, &stored(db).await);
}

async fn conversions_find_later_changes(db: &Db) {
    let mut plain = random_tree(20);
    load::<FromParents>(db, &plain).await;
    let (old, new) = (db.tree::<FromParents>(), db.tree::<FromPaths>());
    let plan = new.convert_from(&old).await.unwrap();
    let moved = plain.children(0)[0];
    let place = plain.children(0)[1];
    let position = Position::child_of(Ref::from(place));
    old.move_to(Ref::from(moved), position).await.unwrap();
    plain.relocate(moved, Place::LastOf(place));
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!((applied.written(), applied.unmatched()), (19, 1));
    let early = new.remove_fields_of(&old).await.unwrap_err();
    assert_eq!(early.tree_refusal(), Some(TreeRefusal::Damaged));
    let plan = new.convert_from(&old).await.unwrap();
    plan.apply(Allow::WRITE).await.unwrap();
    assert!(new.convert_from(&old).await.unwrap().is_empty());
    plain.assert_stored(FromPaths::TREE, &stored(db).await);

    // A difference that was written after the last plan.
    let position = Position::root();
    old.move_to(Ref::from(moved), position).await.unwrap();
    let early = new.remove_fields_of(&old).await.unwrap_err();
    assert!(early.to_string().contains("differs"), "{early}");
}

async fn a_removal_is_resumed(db: &Db) {
    let plain = random_tree(20);
    load::<FromParents>(db, &plain).await;
    let (old, new) = (db.tree::<FromParents>(), db.tree::<FromBounds>());
    let plan = new.convert_from(&old).await.unwrap();
    plan.apply(Allow::WRITE).await.unwrap();
    let plan = new.remove_fields_of(&old).await.unwrap();
    apply_a_part(db, &plan, 7).await;
    // The old tree can't be read any more.
    let late = new.convert_from(&old).await.unwrap_err();
    assert!(late.to_string().contains("remove_fields_of"), "{late}");
    let plan = new.remove_fields_of(&old).await.unwrap();
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!(applied.written(), 13);
    plain.assert_stored(FromBounds::TREE, &stored(db).await);
    let documents = stored(db).await;
    assert!(documents.iter().all(|document| document.len() == 4));
}

async fn trees_that_do_not_fit_are_not_converted(db: &Db) {
    let old = db.tree::<FromParents>();
    let edge = |id, parent: i32| {
        let parent = (parent != 0).then(|| Ref::<FromParents>::from(parent));
        (FromParents::node(id), parent)
    };
    old.insert_edges([edge(1, 0), edge(2, 1), edge(3, 2)])
        .await
        .unwrap();
    let deep = db.tree::<Shallow>().convert_from(&old).await.unwrap_err();
    assert_eq!(deep.tree_refusal(), Some(TreeRefusal::TooDeep));
    let mixed = db.tree::<Scopes>().convert_from(&old).await.unwrap_err();
    assert_eq!(mixed.tree_refusal(), Some(TreeRefusal::OtherTree));
    let zeros = db.tree::<FromZeros>().convert_from(&old).await.unwrap_err();
    assert!(zeros.to_string().contains("`parent` is"), "{zeros}");
    let elsewhere = db.tree::<super::models::ByPath>();
    let elsewhere = elsewhere.convert_from(&old).await.unwrap_err();
    assert!(
        elsewhere.to_string().contains("insert_edges"),
        "{elsewhere}"
    );
    let collection = old.collection();
    collection
        .update_one(|c| c.id.eq(2), |_| raw(doc! {"$set": {"parent": 9}}))
        .await
        .unwrap();
    let damaged = db.tree::<FromPaths>().convert_from(&old).await.unwrap_err();
    assert_eq!(damaged.tree_refusal(), Some(TreeRefusal::Damaged));
    assert!(
        stored(db)
            .await
            .iter()
            .all(|node| node.get("path").is_none())
    );
    assert_eq!(stored(db).await[0].get("parent"), Some(&Bson::Null));
}

/// A model with two trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "places",
    tree(parent_references, parent = region, name = ByRegion),
    tree(nested_sets, left = left, right = right, name = ByOwner)
)]
struct PlaceNode {
    #[serde(rename = "_id")]
    id: i32,
    region: Parent<PlaceNode>,
    left: Left,
    right: Right,
}

async fn trees_of_one_model_are_converted(db: &Db) {
    let new = |id| PlaceNode {
        id,
        region: Parent::default(),
        left: Left::default(),
        right: Right::default(),
    };
    let edges = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))];
    let edges = edges.map(|(id, parent)| (new(id), parent.map(Ref::<PlaceNode>::from)));
    let (regions, owners) = (db.tree::<ByRegion>(), db.tree::<ByOwner>());
    regions.insert_edges(edges).await.unwrap();
    assert_eq!(owners.roots().count().await.unwrap(), 4);
    let plan = owners.convert_from(&regions).await.unwrap();
    plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!(owners.all().pre_order().ids().await.unwrap(), [1, 2, 3, 4]);
    assert_eq!(owners.ancestors(Ref::from(3)).ids().await.unwrap(), [1, 2]);
    // The model declares the fields of both trees.
    let removal = owners.remove_fields_of(&regions).await.unwrap();
    assert!(removal.is_empty());
}

async fn errors_name_the_tree(db: &Db) {
    let new = |id| PlaceNode {
        id,
        region: Parent::default(),
        left: Left::default(),
        right: Right::default(),
    };
    let (regions, owners) = (db.tree::<ByRegion>(), db.tree::<ByOwner>());
    let edges = [1, 2].map(|id| (new(id), None::<Ref<PlaceNode>>));
    regions.insert_edges(edges).await.unwrap();
    let one = || Ref::<PlaceNode>::from(1);
    let below = owners.move_to(Ref::from(2), Position::child_of(one()));
    below.await.unwrap();
    let error = regions.delete(one()).await.unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::HasChildren));
    let text = error.to_string();
    assert!(text.contains("PlaceNode"), "{text}");
    assert!(text.contains("in the tree `ByOwner`"), "{text}");
    assert!(!text.contains("ByRegion"), "{text}");
}

/// A model with a tree for each owner, and one across owners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "stands",
    tree(parent_references, parent = region, name = StandsByRegion),
    tree(nested_sets, left = left, right = right, scope = owner, name = StandsByOwner)
)]
struct Stand {
    #[serde(rename = "_id")]
    id: i32,
    region: Parent<Stand>,
    owner: i32,
    left: Left,
    right: Right,
}

async fn a_load_into_several_scopes_of_another_tree_is_refused(db: &Db) {
    let new = |id, owner| Stand {
        id,
        region: Parent::default(),
        owner,
        left: Left::default(),
        right: Right::default(),
    };
    let regions = db.tree::<StandsByRegion>();
    let edges = |owners: [i32; 2]| {
        let ids = [1, 2].into_iter().zip(owners);
        ids.map(move |(id, owner)| (new(id, owner), None::<Ref<Stand>>))
    };
    let error = regions.insert_edges(edges([7, 8])).await.unwrap_err();
    assert_eq!(error.tree_refusal(), Some(TreeRefusal::OtherTree));
    let text = error.to_string();
    assert!(text.contains("in the tree `StandsByOwner`"), "{text}");
    assert_eq!(regions.all().count().await.unwrap(), 0);
    regions.insert_edges(edges([7, 7])).await.unwrap();
    let report = db.tree::<StandsByOwner>().check().await.unwrap();
    assert!(report.is_sound(), "{report}");
}
