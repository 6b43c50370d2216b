//! Random changes of each pattern, compared with a plain tree after each one.

use odm::bson::Document as BsonDocument;
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::query::raw;
use odm::tree::TreeDelete;
use odm::tree::prelude::*;

use super::models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, TestTree,
};
use super::plain::{Place, Plain};
use crate::case::cases;

cases![
    parent_references_change_as_a_plain_tree,
    child_references_change_as_a_plain_tree,
    ancestors_change_as_a_plain_tree,
    paths_change_as_a_plain_tree,
    bounds_change_as_a_plain_tree,
    bounds_with_parents_change_as_a_plain_tree,
    all_patterns_together_change_as_a_plain_tree,
];

async fn parent_references_change_as_a_plain_tree(db: &Db) {
    changes::<ByParent>(db, 1).await;
}

async fn child_references_change_as_a_plain_tree(db: &Db) {
    changes::<ByChildren>(db, 2).await;
}

async fn ancestors_change_as_a_plain_tree(db: &Db) {
    changes::<ByAncestors>(db, 3).await;
}

async fn paths_change_as_a_plain_tree(db: &Db) {
    changes::<ByPath>(db, 4).await;
}

async fn bounds_change_as_a_plain_tree(db: &Db) {
    changes::<ByBounds>(db, 5).await;
}

async fn bounds_with_parents_change_as_a_plain_tree(db: &Db) {
    changes::<ByBoundsAndParent>(db, 6).await;
}

async fn all_patterns_together_change_as_a_plain_tree(db: &Db) {
    changes::<ByAll>(db, 7).await;
}

/// Numbers that are the same in every run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    pub(super) fn of(&mut self, ids: &[i32]) -> i32 {
        ids[self.below(ids.len())]
    }

    /// A place among these nodes, other than beside `moving`.
    pub(super) fn place(&mut self, ids: &[i32], moving: i32) -> Place {
        let others: Vec<i32> = ids.iter().copied().filter(|id| *id != moving).collect();
        if others.is_empty() || self.below(8) == 0 {
            return [Place::FirstOf(0), Place::LastOf(0)][self.below(2)];
        }
        let other = self.of(&others);
        [
            Place::FirstOf(other),
            Place::LastOf(other),
            Place::Before(other),
            Place::After(other),
        ][self.below(4)]
    }
}

pub(super) fn position<D: TestTree>(place: Place) -> Position<D> {
    match place {
        Place::FirstOf(0) => Position::first_root(),
        Place::LastOf(0) => Position::last_root(),
        Place::FirstOf(parent) => Position::first_child_of(Ref::from(parent)),
        Place::LastOf(parent) => Position::last_child_of(Ref::from(parent)),
        Place::Before(sibling) => Position::before(Ref::from(sibling)),
        Place::After(sibling) => Position::after(Ref::from(sibling)),
    }
}

async fn changes<D: TestTree>(db: &Db, seed: u64) {
    db.sync([D::Model::model()])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let tree = db.tree::<D>();
    let mut plain = Plain::default();
    let mut random = Random::new(seed);
    changes_from(&tree, &mut plain, &mut random, 1, 70).await;
}

/// Some random changes of a tree; the new nodes have ids from `first`.
pub(super) async fn changes_of<D: TestTree>(
    tree: &Tree<D>,
    plain: &mut Plain,
    random: &mut Random,
    first: i32,
) {
    changes_from(tree, plain, random, first, 8).await;
}

async fn changes_from<D: TestTree>(
    tree: &Tree<D>,
    plain: &mut Plain,
    random: &mut Random,
    first: i32,
    count: i32,
) {
    for id in first..first + count {
        let ids = plain.ids();
        if ids.len() < 12 || random.below(3) == 0 {
            let place = random.place(&ids, id);
            plain.insert(id, place);
            let inserted = tree.insert(D::node(id), position(place)).await.unwrap();
            assert_eq!(inserted.written.inserted, 1);
        } else {
            let one = random.of(&ids);
            change(tree, plain, random, one).await;
        }
        let stored = tree.collection().find_all().with_type::<BsonDocument>();
        plain.assert_stored(D::TREE, &stored.all().await.unwrap());
        let ids = plain.ids();
        if !ids.is_empty() {
            let one = random.of(&ids);
            compare(tree, plain, one, random.of(&ids)).await;
        }
    }
}

/// One random change of a node.
pub(super) async fn change<D: TestTree>(
    tree: &Tree<D>,
    plain: &mut Plain,
    random: &mut Random,
    one: i32,
) {
    let ids = plain.ids();
    match random.below(10) {
        0 => {
            plain.cascade(one);
            let deleted = tree
                .delete(Ref::from(one))
                .policy(TreeDelete::Cascade)
                .await;
            assert_eq!(
                deleted.unwrap().deleted,
                (ids.len() - plain.ids().len()) as u64
            );
        }
        1 => {
            plain.adopt(one);
            let deleted = tree.delete(Ref::from(one)).policy(TreeDelete::Adopt).await;
            assert_eq!(deleted.unwrap().deleted, 1);
        }
        2 => {
            plain.make_roots(one);
            let deleted = tree
                .delete(Ref::from(one))
                .policy(TreeDelete::MakeRoots)
                .await;
            assert_eq!(deleted.unwrap().deleted, 1);
        }
        3 => {
            let deleted = tree
                .delete(Ref::from(one))
                .policy(TreeDelete::Restrict)
                .await;
            if plain.children(one).is_empty() {
                plain.cascade(one);
                assert_eq!(deleted.unwrap().deleted, 1);
            } else {
                let refusal = deleted.unwrap_err().tree_refusal();
                assert_eq!(refusal, Some(TreeRefusal::HasChildren));
            }
        }
        4 => {
            let other = random.of(&ids);
            let swapped = tree.swap(Ref::from(one), Ref::from(other)).await;
            refused_unless(plain.swap(one, other), swapped);
        }
        5 => {
            let siblings = plain.children(plain.parent(one));
            let at = siblings.iter().position(|id| *id == one).unwrap();
            let (beside, moved) = if random.below(2) == 0 {
                let before = at
                    .checked_sub(1)
                    .map(|before| Place::Before(siblings[before]));
                (before, tree.move_up(Ref::from(one)).await)
            } else {
                let after = siblings.get(at + 1).map(|after| Place::After(*after));
                (after, tree.move_down(Ref::from(one)).await)
            };
            moved.unwrap();
            if let Some(place) = beside {
                plain.relocate(one, place);
            }
        }
        6 => {
            let parent = random.of(&[ids.as_slice(), &[0]].concat());
            let index = random.below(4);
            let others = plain.children(parent).iter().filter(|id| **id != one);
            let place = others.copied().nth(index);
            let place = place.map_or(Place::LastOf(parent), Place::Before);
            let position = match parent {
                0 => Position::root_at(index),
                parent => Position::child_at(Ref::from(parent), index),
            };
            let moved = tree.move_to(Ref::from(one), position).await;
            refused_unless(plain.relocate(one, place), moved);
        }
        _ => {
            let place = random.place(&ids, one);
            let moved = tree.move_to(Ref::from(one), position(place)).await;
            refused_unless(plain.relocate(one, place), moved);
        }
    }
}

#[track_caller]
fn refused_unless<T: std::fmt::Debug>(taken: bool, result: odm::Result<T>) {
    if taken {
        result.unwrap();
    } else {
        let refusal = result.unwrap_err().tree_refusal();
        assert_eq!(refusal, Some(TreeRefusal::OwnSubtree));
    }
}

/// Compares every read around a node with the plain tree.
pub(super) async fn compare<D: TestTree>(tree: &Tree<D>, plain: &Plain, one: i32, other: i32) {
    let node = || Ref::from(one);
    let sorted = |mut ids: Vec<i32>| {
        ids.sort_unstable();
        ids
    };
    let below = plain.below(one);
    let siblings = plain.children(plain.parent(one));
    let place = siblings.iter().position(|id| *id == one).unwrap();
    let ancestors = plain.ancestors(one);

    assert_eq!(tree.all().pre_order().ids().await.unwrap(), plain.below(0));
    assert_eq!(tree.roots().ids().await.unwrap(), plain.children(0));
    assert_eq!(
        tree.children(node()).ids().await.unwrap(),
        plain.children(one)
    );
    assert_eq!(
        tree.descendants(node()).pre_order().ids().await.unwrap(),
        below
    );
    assert_eq!(
        sorted(tree.descendants(node()).ids().await.unwrap()),
        sorted(below.clone())
    );
    assert_eq!(
        tree.descendants(node()).count().await.unwrap(),
        below.len() as u64
    );
    assert_eq!(tree.ancestors(node()).ids().await.unwrap(), ancestors);
    let path: Vec<i32> = ancestors.iter().copied().chain([one]).collect();
    assert_eq!(tree.path(node()).ids().await.unwrap(), path);
    let parent = tree.parent(node()).ids().await.unwrap();
    assert_eq!(
        parent,
        ancestors.last().copied().into_iter().collect::<Vec<_>>()
    );
    let others: Vec<i32> = siblings.iter().copied().filter(|id| *id != one).collect();
    assert_eq!(tree.siblings(node()).ids().await.unwrap(), others);
    let next = tree.next_sibling(node()).ids().await.unwrap();
    assert_eq!(
        next,
        siblings
            .get(place + 1)
            .copied()
            .into_iter()
            .collect::<Vec<_>>()
    );
    let previous = tree.previous_sibling(node()).ids().await.unwrap();
    let before = place.checked_sub(1).map(|place| siblings[place]);
    assert_eq!(previous, before.into_iter().collect::<Vec<_>>());
    let before = tree.siblings_before(node()).ids().await.unwrap();
    assert_eq!(before, siblings[..place]);
    let after = tree.siblings_after(node()).ids().await.unwrap();
    assert_eq!(after, siblings[place + 1..]);
    let first = tree.first_sibling(node()).ids().await.unwrap();
    let last = tree.last_sibling(node()).ids().await.unwrap();
    assert_eq!(
        [first, last].concat(),
        [siblings[0], siblings[siblings.len() - 1]]
    );

    assert_eq!(tree.depth(node()).await.unwrap(), ancestors.len());
    assert_eq!(tree.is_root(node()).await.unwrap(), ancestors.is_empty());
    assert_eq!(tree.is_leaf(node()).await.unwrap(), below.is_empty());
    let ancestor = tree.is_ancestor_of(node(), Ref::from(other)).await.unwrap();
    assert_eq!(ancestor, below.contains(&other));
    let siblings = tree.are_siblings(node(), Ref::from(other)).await.unwrap();
    assert_eq!(siblings, plain.parent(one) == plain.parent(other));

    let leaves = plain
        .ids()
        .into_iter()
        .filter(|id| plain.children(*id).is_empty());
    assert_eq!(
        sorted(tree.leaves().ids().await.unwrap()),
        leaves.collect::<Vec<_>>()
    );
    for levels in [0..=0, 1..=1, 1..=2, 0..=3] {
        let inside = plain.ids().into_iter().filter(|id| {
            let depth = u32::try_from(plain.ancestors(*id).len()).unwrap();
            levels.contains(&depth)
        });
        let found = tree.between_depths(levels.clone()).ids().await.unwrap();
        assert_eq!(sorted(found), inside.collect::<Vec<_>>(), "{levels:?}");
    }
    for depth in 1..=2 {
        let limit = ancestors.len() + depth as usize;
        let inside = below
            .iter()
            .copied()
            .filter(|id| plain.ancestors(*id).len() <= limit);
        let found = tree.descendants(node()).max_depth(depth).pre_order();
        assert_eq!(found.ids().await.unwrap(), inside.collect::<Vec<_>>());
    }
    let filtered = tree
        .descendants(node())
        .filter(|_| raw(odm::bson::doc! {"_id": {"$mod": [2, 0]}}));
    let even = below.iter().copied().filter(|id| id % 2 == 0).take(3);
    assert_eq!(
        filtered.pre_order().limit(3).ids().await.unwrap(),
        even.collect::<Vec<_>>()
    );
}
