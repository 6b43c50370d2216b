//! Trees over nodes that other programs or older versions wrote: `check` reports them, or every read and change is right.
//!
//! `ODM_FOREIGN_DOCUMENTS` is the number of nodes for each pattern; if it is set, they differ from run to run.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use odm::bson::{self, Bson, Document as BsonDocument, doc};
use odm::model::TreeMeta;
use odm::prelude::*;
use odm::tree::prelude::*;

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByBoundsInShops, ByChildren, ByParent, ByPath,
    Scoped, TestTree, TwoPatterns,
};
use super::plain::Plain;
use super::random::{Random, change, compare, position};
use crate::case::cases;
use crate::random;

cases![
    foreign_nodes_of_parent_references,
    foreign_nodes_of_child_references,
    foreign_nodes_of_ancestors,
    foreign_nodes_of_paths,
    foreign_nodes_of_bounds,
    foreign_nodes_of_bounds_in_scopes,
    foreign_nodes_of_bounds_with_parents,
    foreign_nodes_in_scopes,
    foreign_nodes_of_two_patterns,
    foreign_nodes_of_all_patterns,
];

async fn foreign_nodes_of_parent_references(db: &Db) {
    rounds::<ByParent>(db).await;
}

async fn foreign_nodes_of_child_references(db: &Db) {
    rounds::<ByChildren>(db).await;
}

async fn foreign_nodes_of_ancestors(db: &Db) {
    rounds::<ByAncestors>(db).await;
}

async fn foreign_nodes_of_paths(db: &Db) {
    rounds::<ByPath>(db).await;
}

async fn foreign_nodes_of_bounds(db: &Db) {
    rounds::<ByBounds>(db).await;
}

async fn foreign_nodes_of_bounds_with_parents(db: &Db) {
    rounds::<ByBoundsAndParent>(db).await;
}

async fn foreign_nodes_of_bounds_in_scopes(db: &Db) {
    rounds::<ByBoundsInShops>(db).await;
}

async fn foreign_nodes_in_scopes(db: &Db) {
    rounds::<Scoped>(db).await;
}

async fn foreign_nodes_of_two_patterns(db: &Db) {
    rounds::<TwoPatterns>(db).await;
}

async fn foreign_nodes_of_all_patterns(db: &Db) {
    rounds::<ByAll>(db).await;
}

/// The nodes of one tree.
const NODES: i32 = 9;

const VARIABLE: &str = "ODM_FOREIGN_DOCUMENTS";

/// A tree for each set of changes that [`foreign`] may make.
async fn rounds<D: TestTree>(db: &Db) {
    let first = random::Random::unless_set(VARIABLE, 1).seed();
    let nodes = u64::try_from(random::count(VARIABLE, 27)).unwrap();
    for round in 0..nodes.div_ceil(u64::try_from(NODES).unwrap()) {
        let allowed = match round % 3 {
            0 => Allowed::default(),
            1 => Allowed {
                numbers: true,
                ..Allowed::default()
            },
            _ => Allowed {
                missing: true,
                ..Allowed::default()
            },
        };
        let one = round_of::<D>(db, first.wrapping_add(round), allowed);
        let failed = AssertUnwindSafe(one).catch_unwind().await.is_err();
        assert!(
            !failed,
            "seed {}, {allowed:?}: see above",
            first.wrapping_add(round)
        );
    }
}

/// What changes beside the order of fields and unknown fields.
#[derive(Debug, Clone, Copy, Default)]
struct Allowed {
    /// Numbers have another BSON type.
    numbers: bool,
    /// A null is missing.
    missing: bool,
}

async fn round_of<D: TestTree>(db: &Db, seed: u64, allowed: Allowed) {
    let what = format!("{}, seed {seed}, {allowed:?}", D::Model::model().name);
    db.collection::<D::Model>().drop().await.unwrap();
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let off = doc! {"collMod": D::Model::model().collection, "validationLevel": "off"};
    db.run_command(off).await.unwrap();
    let tree = db.tree::<D>();
    let (mut plain, mut random) = (Plain::default(), Random::new(seed));
    for id in 1..=NODES {
        let place = random.place(&plain.ids(), id);
        plain.insert(id, place);
        tree.insert(D::node(id), position(place)).await.unwrap();
    }

    let mut changed = Vec::new();
    for node in stored(&tree).await {
        let other = foreign::<D>(&mut random, &node, allowed);
        let id = node.get_i32("_id").unwrap();
        let replace = doc! {"update": D::Model::model().collection, "updates": [{"q": {"_id": id}, "u": other.clone()}]};
        db.run_command(replace).await.unwrap();
        changed.push(other);
    }
    let report = tree.check().await.unwrap();
    if allowed.is_harmless() {
        assert!(report.is_sound(), "{what}: {report} {changed:#?}");
    }
    if !report.is_sound() {
        let plan = tree.repair().await.unwrap();
        let repaired = plan.apply(Allow::WRITE).await.unwrap();
        assert!(repaired.is_complete(), "{what}: {plan} {changed:#?}");
        let after = tree.check().await.unwrap();
        assert!(
            after.is_sound(),
            "{what}: {report} {plan} {after} {changed:#?}"
        );
    }
    assert_tree::<D>(&tree, &plain, &mut random).await;
    let one = random.of(&plain.ids());
    change(&tree, &mut plain, &mut random, one).await;
    if plain.ids().is_empty() {
        return;
    }
    assert_tree::<D>(&tree, &plain, &mut random).await;
    for node in stored(&tree).await {
        assert_eq!(node.get("unknown"), Some(&unknown()), "{what}");
    }
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{what}: {report} {changed:#?}");
}

impl Allowed {
    fn is_harmless(self) -> bool {
        !(self.numbers || self.missing)
    }
}

async fn stored<D: TestTree>(tree: &Tree<D>) -> Vec<BsonDocument> {
    let all = tree.collection().find_all().with_type::<BsonDocument>();
    all.all().await.unwrap()
}

/// Compares what is stored, and what the tree reads around a node, with a plain tree.
async fn assert_tree<D: TestTree>(tree: &Tree<D>, plain: &Plain, random: &mut Random) {
    let nodes = stored(tree)
        .await
        .into_iter()
        .map(|node| usual(D::TREE, node));
    plain.assert_stored(D::TREE, &nodes.collect::<Vec<_>>());
    let ids = plain.ids();
    let (one, other) = (random.of(&ids), random.of(&ids));
    compare(tree, plain, one, other).await;
    let mut models = tree.collection().find_all().all().await.unwrap();
    models.sort_by_key(|node| *node.id());
    assert!(models.iter().map(|node| *node.id()).eq(ids));
}

fn unknown() -> Bson {
    doc! {"parent": 1, "left": [Bson::Null, Bson::Int32(1)]}.into()
}

/// A node as another program could have written it: the struct reads the same from it.
fn foreign<D: TestTree>(
    random: &mut Random,
    node: &BsonDocument,
    allowed: Allowed,
) -> BsonDocument {
    let reads =
        |node: &BsonDocument| bson::deserialize_from_document::<D::Model>(node.clone()).is_ok();
    let mut fields: Vec<(String, Bson)> = node.clone().into_iter().collect();
    fields.push(("unknown".to_owned(), unknown()));
    let mut other = BsonDocument::new();
    while !fields.is_empty() {
        let at = random.below(fields.len());
        let (name, value) = fields.swap_remove(at);
        other.insert(name, value);
    }
    for name in node.keys().filter(|name| *name != "_id") {
        let mut changed = other.clone();
        match changed.get_mut(name) {
            Some(Bson::Null) if allowed.missing && random.below(2) == 0 => {
                changed.remove(name);
            }
            Some(Bson::Array(elements)) => {
                for element in elements.iter_mut().filter(|_| allowed.numbers) {
                    *element = number(random, element);
                }
            }
            Some(value) if allowed.numbers => *value = number(random, value),
            _ => {}
        }
        if reads(&changed) {
            other = changed;
        }
    }
    other
}

/// The same number in any BSON type.
fn number(random: &mut Random, value: &Bson) -> Bson {
    let Bson::Int32(number) = *value else {
        return value.clone();
    };
    match random.below(4) {
        0 => number.into(),
        1 => i64::from(number).into(),
        2 => f64::from(number).into(),
        _ => Bson::Decimal128(number.to_string().parse().unwrap()),
    }
}

/// A node as the tree itself writes it.
fn usual(tree: &TreeMeta, mut node: BsonDocument) -> BsonDocument {
    fn plain(value: &mut Bson) {
        match value {
            Bson::Int64(number) => *value = i32::try_from(*number).unwrap().into(),
            #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
            Bson::Double(number) => *value = (*number as i32).into(),
            Bson::Decimal128(number) => {
                *value = number.to_string().parse::<i32>().unwrap().into();
            }
            Bson::Array(elements) => elements.iter_mut().for_each(plain),
            _ => {}
        }
    }
    node.iter_mut().for_each(|(_, value)| plain(value));
    let nulls = tree.parent.map(|(field, _)| field);
    for field in nulls.into_iter().chain(tree.path.map(|(field, _)| field)) {
        if !node.contains_key(field) {
            node.insert(field, Bson::Null);
        }
    }
    node
}
