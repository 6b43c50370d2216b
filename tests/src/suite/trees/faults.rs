//! Random damage of every kept field, in all patterns: what `check` says and what `repair` makes of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::model::TreeMeta;
use odm::prelude::*;
use odm::query::raw;
use odm::tree::prelude::*;
use odm::tree::{Branch, DamageKind, TreeReport};

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByBoundsInShops, ByChildren, ByParent, ByPath,
    Scoped, TestTree, TwoPatterns,
};
use super::operations::State;
use super::plain::{Place, Plain};
use super::random::Random;
use crate::case::cases;

cases![
    damage_of_fields_of_parent_references,
    damage_of_fields_of_child_references,
    damage_of_fields_of_ancestors,
    damage_of_fields_of_paths,
    damage_of_fields_of_bounds,
    damage_of_fields_of_bounds_with_parents,
    damage_of_fields_of_all_patterns,
];

async fn damage_of_fields_of_parent_references(db: &Db) {
    damages::<ByParent>(db, 1).await;
    damages::<Scoped>(db, 2).await;
}

async fn damage_of_fields_of_child_references(db: &Db) {
    damages::<ByChildren>(db, 3).await;
}

async fn damage_of_fields_of_ancestors(db: &Db) {
    damages::<ByAncestors>(db, 4).await;
    damages::<TwoPatterns>(db, 5).await;
}

async fn damage_of_fields_of_paths(db: &Db) {
    damages::<ByPath>(db, 6).await;
}

async fn damage_of_fields_of_bounds(db: &Db) {
    damages::<ByBounds>(db, 7).await;
    damages::<ByBoundsInShops>(db, 8).await;
}

async fn damage_of_fields_of_bounds_with_parents(db: &Db) {
    damages::<ByBoundsAndParent>(db, 9).await;
}

async fn damage_of_fields_of_all_patterns(db: &Db) {
    damages::<ByAll>(db, 10).await;
}

const NODES: i32 = 12;

/// A tree, how it is stored, and what became of it.
struct Scene<D: TestTree> {
    tree: Tree<D>,
    plain: Plain,
    sound: State,
    what: String,
    report: TreeReport,
}

async fn damages<D: TestTree>(db: &Db, seed: u64) {
    let set = std::env::var("ODM_TREE_OPERATIONS").ok();
    let rounds = set
        .and_then(|set| set.parse::<u64>().ok())
        .map_or(1, |count| 1 + count / 100);
    for round in 0..rounds {
        let mut random = Random::new(seed + 1_000 * round);
        db.collection::<D::Model>().drop().await.unwrap();
        let tree = db.tree::<D>();
        let mut plain = Plain::default();
        for id in 1..=NODES {
            let place = random.place(&plain.ids(), id);
            plain.insert(id, place);
        }
        let branches = plain
            .children(0)
            .iter()
            .map(|root| branch::<D>(&plain, *root));
        tree.insert_branches(branches.collect::<Vec<_>>())
            .await
            .unwrap();
        let sound = State::read::<D::Model>(db).await;
        let mut scene = Scene {
            tree,
            plain,
            sound,
            what: String::new(),
            report: TreeReport::default(),
        };
        for field in kept::<D>() {
            for _ in 0..2 {
                let node = random.of(&scene.plain.ids());
                scene.unreadable(db, field, node).await;
                scene.another_value(db, field, node, &mut random).await;
            }
        }
        for _ in 0..3 {
            scene.another_parent(db, &mut random).await;
        }
        for _ in 0..12 {
            scene.several(db, &mut random).await;
        }
    }
}

fn branch<D: TestTree>(plain: &Plain, id: i32) -> Branch<D::Model> {
    let mut branch = Branch::leaf(D::node(id));
    for child in plain.children(id) {
        branch = branch.with(self::branch::<D>(plain, *child));
    }
    branch
}

fn kept<D: TestTree>() -> Vec<&'static str> {
    let tree: &TreeMeta = D::TREE;
    tree.fields()
        .filter(|field| Some(*field) != tree.scope)
        .collect()
}

/// Whether a field alone says where nodes are.
fn is_only_source(tree: &TreeMeta, field: &str) -> bool {
    let sources = [
        tree.parent.map(|(name, _)| name),
        tree.ancestors,
        tree.path.map(|(name, _)| name),
        tree.bounds.map(|(left, _)| left),
        tree.children,
    ];
    let mut sources = sources.into_iter().flatten();
    sources.next() == Some(field) && sources.next().is_none()
}

impl<D: TestTree> Scene<D> {
    fn stored(&self, id: i32) -> &BsonDocument {
        let mut nodes = self.sound.nodes.iter();
        nodes
            .find(|node| node.get("_id") == Some(&Bson::Int32(id)))
            .unwrap()
    }

    async fn change(&self, id: i32, change: BsonDocument) {
        let nodes = self.tree.collection();
        let updated = nodes.update_one(|_| raw(doc! {"_id": id}), |_| raw(change));
        assert_eq!(updated.await.unwrap().matched, 1);
    }

    /// Checks that damage is reported if and only if a repair is planned, and that the repair leaves none.
    async fn assess(&mut self, what: String) {
        self.report = self.tree.check().await.unwrap();
        self.what = format!(
            "{:?} {what}: {}{:?}",
            D::TREE.pattern,
            self.report,
            self.sound.nodes
        );
        let plan = self.tree.repair().await.unwrap();
        assert_eq!(
            plan.is_empty(),
            self.report.is_sound(),
            "{}\n{plan}",
            self.what
        );
        let applied = plan.apply(Allow::WRITE).await.unwrap();
        assert!(applied.is_complete(), "{}\n{plan}", self.what);
        self.what.push_str(&plan.to_string());
        let again = self.tree.check().await.unwrap();
        assert!(again.is_sound(), "{}, after: {again}", self.what);
        assert!(
            self.tree.repair().await.unwrap().is_empty(),
            "{}",
            self.what
        );
    }

    fn blamed(&self) -> BTreeSet<i32> {
        self.report
            .listed
            .iter()
            .map(|damage| damage.id.as_i32().unwrap())
            .collect()
    }

    fn kinds(&self) -> BTreeSet<DamageKind> {
        self.report
            .listed
            .iter()
            .map(|damage| damage.kind)
            .collect()
    }

    /// Expects damage of this node alone.
    #[track_caller]
    fn only(&self, node: i32) {
        assert_eq!(self.blamed(), BTreeSet::from([node]), "{}", self.what);
    }

    /// Expects the tree as it was; ranks may be others.
    async fn is_as_before(&self, db: &Db) {
        let after = State::read::<D::Model>(db).await;
        let without_ranks = |nodes: &[BsonDocument]| {
            let mut nodes = nodes.to_vec();
            for node in &mut nodes {
                node.remove("rank");
            }
            // A field that was missing comes last.
            let sorted = nodes.into_iter().map(|node| {
                let mut fields: Vec<(String, Bson)> = node.into_iter().collect();
                fields.sort_by(|one, other| one.0.cmp(&other.0));
                fields
            });
            sorted.collect::<Vec<_>>()
        };
        assert_eq!(
            without_ranks(&after.nodes),
            without_ranks(&self.sound.nodes),
            "{}",
            self.what
        );
    }

    /// A field that is missing, null or of another type.
    async fn unreadable(&mut self, db: &Db, field: &str, node: i32) {
        let tree = D::TREE;
        let stored = self.stored(node).get(field).cloned().unwrap();
        let is_text = stored.as_str().is_some() || tree.path.is_some_and(|(path, _)| path == field);
        let other_type: Bson = if is_text { 5.into() } else { "a".into() };
        let mut changes = vec![
            (doc! {"$unset": {field: 1}}, DamageKind::MissingField),
            (doc! {"$set": {field: other_type}}, DamageKind::WrongType),
            (doc! {"$set": {field: {"a": 1}}}, DamageKind::WrongType),
        ];
        let is_parent = tree.parent.is_some_and(|(parent, _)| parent == field);
        let has_null = is_parent || tree.path.is_some_and(|(path, _)| path == field);
        if !has_null {
            changes.push((doc! {"$set": {field: Bson::Null}}, DamageKind::WrongType));
        }
        if let (Some(number), false) = (stored.as_i32(), is_parent) {
            changes.push((
                doc! {"$set": {field: f64::from(number)}},
                DamageKind::WrongType,
            ));
        }
        for (change, kind) in changes {
            self.sound.restore(db).await;
            self.change(node, change.clone()).await;
            self.assess(format!("{change} of {node}")).await;
            if is_parent && kind == DamageKind::WrongType {
                assert_eq!(
                    self.kinds().first(),
                    Some(&DamageKind::Orphan),
                    "{}",
                    self.what
                );
                continue;
            }
            assert!(self.kinds().contains(&kind), "{}", self.what);
            let is_leaf = self.plain.children(node).is_empty();
            if tree.children == Some(field) && is_only_source(tree, field) && !is_leaf {
                continue;
            }
            self.only(node);
            assert_eq!(self.report.damages, 1, "{}", self.what);
            let is_lost = is_only_source(tree, field) && tree.bounds.is_none() && is_leaf;
            let is_lost = is_lost || is_parent && is_only_source(tree, field);
            if !is_lost || tree.children == Some(field) {
                self.is_as_before(db).await;
            }
        }
    }

    /// A value of the right type that is not the right one.
    async fn another_value(&mut self, db: &Db, field: &str, node: i32, random: &mut Random) {
        let tree = D::TREE;
        let stored = self.stored(node).get(field).cloned().unwrap();
        let other = random.of(&self.plain.ids());
        let number = || stored.as_i32().unwrap();
        let mut values: Vec<Bson> = Vec::new();
        if tree.depth == Some(field)
            || tree.child_count == Some(field)
            || tree.descendant_count == Some(field)
        {
            values.extend([Bson::from(number() + 3), 0.into(), Bson::from(-1)]);
        } else if tree.order == Some(field) {
            values.extend([Bson::from(""), "ZZ".into(), "n".into()]);
        } else if tree
            .bounds
            .is_some_and(|(left, right)| [left, right].contains(&field))
        {
            let any = i32::try_from(random.below(usize::try_from(2 * NODES + 4).unwrap())).unwrap();
            values.extend([
                Bson::from(any),
                0.into(),
                Bson::from(-7),
                Bson::from(500),
                Bson::from(501),
            ]);
        } else if tree.children == Some(field) && !is_only_source(tree, field) {
            let list: Vec<i32> = self.plain.children(node).to_vec();
            values.push(list.iter().copied().skip(1).collect::<Vec<_>>().into());
            values.push(list.iter().copied().rev().collect::<Vec<_>>().into());
            values.push([list.as_slice(), &list].concat().into());
            values.push([list.as_slice(), &[99]].concat().into());
            if self.plain.parent(other) != 0 {
                values.push([list.as_slice(), &[other]].concat().into());
            }
        } else if tree.ancestors == Some(field) && tree.parent.is_some() {
            values.extend([
                Bson::from(vec![99]),
                vec![other].into(),
                Bson::from(Vec::<Bson>::new()),
            ]);
        } else if tree.path.is_some_and(|(path, _)| path == field) && tree.parent.is_some() {
            values.extend([
                Bson::from(",99,"),
                "1".into(),
                format!(",{other},").into(),
                ",,".into(),
                Bson::Null,
            ]);
        }
        for value in values {
            if value == stored {
                continue;
            }
            self.sound.restore(db).await;
            self.change(node, doc! {"$set": {field: value.clone()}})
                .await;
            self.assess(format!("{field}: {value} of {node}")).await;
            self.only(node);
            self.is_as_before(db).await;
        }
        if let Some((left, right)) = tree.bounds {
            self.sound.restore(db).await;
            let ends = self.stored(node);
            let swapped =
                doc! {left: ends.get_i32(right).unwrap(), right: ends.get_i32(left).unwrap()};
            self.change(node, doc! {"$set": swapped}).await;
            self.assess(format!("swapped bounds of {node}")).await;
            self.only(node);
            self.is_as_before(db).await;
        }
    }

    /// A parent that is missing, is below the node, or is another node.
    async fn another_parent(&mut self, db: &Db, random: &mut Random) {
        let Some((field, _)) = D::TREE.parent else {
            return;
        };
        let node = random.of(&self.plain.ids());
        let counts = BTreeSet::from([DamageKind::WrongCount]);
        let elsewhere = |scene: &Self, nodes: &BTreeSet<i32>| {
            let mut others = scene.report.listed.iter();
            others.all(|damage| {
                nodes.contains(&damage.id.as_i32().unwrap()) || counts.contains(&damage.kind)
            })
        };
        let own = BTreeSet::from([node]);

        self.sound.restore(db).await;
        self.change(node, doc! {"$set": {field: 99}}).await;
        self.assess(format!("no parent of {node}")).await;
        assert!(
            elsewhere(self, &own) && self.kinds().contains(&DamageKind::Orphan),
            "{}",
            self.what
        );
        assert!(self.tree.is_root(Ref::from(node)).await.unwrap());
        assert!(self.what.contains("it becomes a root"), "{}", self.what);

        let below = self.plain.below(node);
        if !below.is_empty() {
            let low = random.of(&below);
            self.sound.restore(db).await;
            self.change(node, doc! {"$set": {field: low}}).await;
            self.assess(format!("cycle of {node}")).await;
            let mut cycle: BTreeSet<i32> = self
                .plain
                .ancestors(low)
                .into_iter()
                .filter(|id| below.contains(id))
                .collect();
            cycle.extend([node, low]);
            let found = self
                .report
                .listed
                .iter()
                .filter(|damage| damage.kind == DamageKind::Cycle);
            let found: BTreeSet<i32> = found.map(|damage| damage.id.as_i32().unwrap()).collect();
            assert_eq!(found, cycle, "{}", self.what);
            assert!(elsewhere(self, &cycle), "{}", self.what);
        }

        let others = self
            .plain
            .ids()
            .into_iter()
            .filter(|id| *id != node && !below.contains(id) && *id != self.plain.parent(node));
        let others: Vec<i32> = others.collect();
        if !others.is_empty() {
            let other = random.of(&others);
            self.sound.restore(db).await;
            self.change(node, doc! {"$set": {field: other}}).await;
            self.assess(format!("parent {other} of {node}")).await;
            let mut plain = self.plain.clone();
            plain.relocate(node, Place::LastOf(other));
            for id in plain.ids() {
                let parent = self.tree.parent(Ref::from(id)).ids().await.unwrap();
                assert_eq!(
                    parent.first().copied().unwrap_or(0),
                    plain.parent(id),
                    "{}",
                    self.what
                );
            }
        }
    }

    /// Damage of several fields at once.
    async fn several(&mut self, db: &Db, random: &mut Random) {
        self.sound.restore(db).await;
        let mut what = String::new();
        for _ in 0..2 + random.below(4) {
            let fields = kept::<D>();
            let field = fields[random.below(fields.len())];
            let node = random.of(&self.plain.ids());
            let other = random.of(&self.plain.ids());
            let value: Bson = match random.below(8) {
                0 => Bson::Null,
                1 => "a".into(),
                2 => other.into(),
                3 => vec![other].into(),
                4 => format!(",{other},").into(),
                5 => f64::from(other).into(),
                6 => self.stored(other).get(field).cloned().unwrap(),
                _ => {
                    write!(what, "no {field} of {node}; ").unwrap();
                    self.change(node, doc! {"$unset": {field: 1}}).await;
                    continue;
                }
            };
            write!(what, "{field}: {value} of {node}; ").unwrap();
            self.change(node, doc! {"$set": {field: value}}).await;
        }
        self.assess(what).await;
    }
}
