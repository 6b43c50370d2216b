//! Every read of random trees, for all patterns, options and types of ids, compared with a plain tree.

use std::collections::BTreeSet;

use odm::bson::{Uuid, doc};
use odm::prelude::*;
use odm::query::raw;
use odm::tree::Branch;
use odm::tree::prelude::*;

use super::declared::{
    AncestorsChildren, AncestorsInShop, AncestorsObjectId, AncestorsText, BoundsChildren,
    BoundsInShop, BoundsText, BoundsUuid, ChildAndParent, ChildCounted, ChildInShop, ChildText,
    ChildUuid, IdOf, Order, ParentInShop, ParentNumber, ParentText, ParentUuid, PathInShop,
    PathNumber, PathObjectId, PathText, PathUuid, ReadTree, TestId, named,
};
use super::plain::{Place, Plain};
use super::random::Random;
use crate::case::cases;

cases![
    reads_by_parents,
    reads_by_lists_of_children,
    reads_by_ancestors,
    reads_by_paths,
    reads_by_bounds,
    reads_in_scopes,
    paths_of_any_length_are_read_moved_and_deleted,
    no_levels_are_no_nodes,
    paths_have_ids,
];

async fn reads_by_parents(db: &Db) {
    reads::<ParentNumber>(db, 1).await;
    reads::<ParentText>(db, 2).await;
    reads::<ParentUuid>(db, 3).await;
}

async fn reads_by_lists_of_children(db: &Db) {
    reads::<ChildText>(db, 4).await;
    reads::<ChildUuid>(db, 5).await;
    reads::<ChildCounted>(db, 6).await;
    reads::<ChildAndParent>(db, 7).await;
}

async fn reads_by_ancestors(db: &Db) {
    reads::<AncestorsText>(db, 8).await;
    reads::<AncestorsObjectId>(db, 9).await;
    reads::<AncestorsChildren>(db, 10).await;
}

async fn reads_by_paths(db: &Db) {
    reads::<PathText>(db, 11).await;
    reads::<PathUuid>(db, 12).await;
    reads::<PathObjectId>(db, 13).await;
    reads::<PathNumber>(db, 14).await;
}

async fn reads_by_bounds(db: &Db) {
    reads::<BoundsText>(db, 15).await;
    reads::<BoundsUuid>(db, 16).await;
    reads::<BoundsChildren>(db, 17).await;
}

async fn reads_in_scopes(db: &Db) {
    reads::<ParentInShop>(db, 18).await;
    reads::<ChildInShop>(db, 19).await;
    reads::<AncestorsInShop>(db, 20).await;
    reads::<PathInShop>(db, 21).await;
    reads::<BoundsInShop>(db, 22).await;
}

/// How many random trees of a model are read; `ODM_TREE_OPERATIONS` is for more.
fn rounds() -> u64 {
    let set = std::env::var("ODM_TREE_OPERATIONS").ok();
    set.and_then(|set| set.parse::<u64>().ok())
        .map_or(1, |count| 1 + count / 100)
}

async fn reads<D: ReadTree>(db: &Db, seed: u64) {
    for round in 0..rounds() {
        let mut random = Random::new(seed + 1_000 * round);
        db.collection::<D::Model>().drop().await.unwrap();
        let plan = db.sync([D::Model::model()]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        let tree = db.tree::<D>();
        let shops = if D::TREE.scope.is_some() { 2 } else { 1 };
        let mut plains = Vec::new();
        for shop in 1..=shops {
            let mut plain = Plain::default();
            let first = (shop - 1) * 17 + 1;
            for number in first..first + 17 {
                let place = random.place(&plain.ids(), number);
                let parent = if D::ORDER == Order::Field {
                    place
                } else {
                    Place::LastOf(plain.parent_at(place))
                };
                plain.insert(number, parent);
            }
            let mut branches = Vec::new();
            for root in plain.children(0) {
                branches.push(branch::<D>(&plain, *root, shop));
            }
            tree.insert_branches(branches).await.unwrap();
            plains.push(plain);
        }
        let report = tree.check().await.unwrap();
        assert!(report.is_sound(), "{report}");
        assert!(tree.repair().await.unwrap().is_empty());
        for (plain, shop) in plains.iter().zip(1..) {
            for one in plain.ids() {
                around(&tree, plain, one, shop).await;
            }
            whole(&tree, plain, shop).await;
        }
    }
}

pub(super) fn branch<D: ReadTree>(plain: &Plain, number: i32, shop: i32) -> Branch<D::Model> {
    let mut branch = Branch::leaf(D::node(number, shop));
    for child in plain.children(number) {
        branch = branch.with(self::branch::<D>(plain, *child, shop));
    }
    branch
}

pub(super) fn numbers<D: ReadTree>(ids: odm::Result<Vec<IdOf<D>>>) -> Vec<i32> {
    let number = |id: &IdOf<D>| {
        (1..=40)
            .find(|number| IdOf::<D>::of(*number) == *id)
            .unwrap()
    };
    ids.unwrap().iter().map(number).collect()
}

fn sorted(mut numbers: Vec<i32>) -> Vec<i32> {
    numbers.sort_unstable();
    numbers
}

/// Compares siblings, which may have no order.
#[track_caller]
pub(super) fn same(is_ordered: bool, found: Vec<i32>, expected: &[i32], what: &str) {
    if is_ordered {
        assert_eq!(found, expected, "{what}");
    } else {
        assert_eq!(sorted(found), sorted(expected.to_vec()), "{what}");
    }
}

/// Expects each node after its parent, if that is expected, and siblings in their order.
#[track_caller]
fn in_pre_order<D: ReadTree>(plain: &Plain, found: &[i32], expected: &[i32]) {
    assert_eq!(sorted(found.to_vec()), sorted(expected.to_vec()));
    if D::ORDER == Order::Field {
        assert_eq!(found, expected);
        return;
    }
    let place = |number: i32| found.iter().position(|one| *one == number).unwrap();
    for &number in found {
        let below = plain.below(number);
        let inside = below.iter().filter(|one| expected.contains(one));
        let mut places: Vec<usize> = inside.map(|one| place(*one)).collect();
        places.sort_unstable();
        let after = place(number) + 1;
        assert_eq!(
            places,
            (after..after + places.len()).collect::<Vec<_>>(),
            "{found:?}"
        );
    }
    let inner = plain.ids().into_iter().filter(|_| D::ORDER == Order::List);
    for parent in inner {
        let children = plain
            .children(parent)
            .iter()
            .filter(|one| expected.contains(one));
        let places: Vec<usize> = children.map(|one| place(*one)).collect();
        assert!(places.is_sorted(), "the children of {parent} in {found:?}");
    }
}

/// Every read around a node.
pub(super) async fn around<D: ReadTree>(tree: &Tree<D>, plain: &Plain, one: i32, shop: i32) {
    let node = || named::<D>(one);
    let has_order = D::ORDER != Order::None;
    let below = plain.below(one);
    let children = plain.children(one);
    let ancestors = plain.ancestors(one);
    let siblings = plain.children(plain.parent(one));
    let others: Vec<i32> = siblings.iter().copied().filter(|id| *id != one).collect();
    let siblings_ordered = D::ORDER == Order::Field || has_order && !ancestors.is_empty();
    let leaves: Vec<i32> = below
        .iter()
        .copied()
        .filter(|id| plain.children(*id).is_empty())
        .collect();
    let is_even = |id: &i32| id % 2 == 0;

    same(
        has_order,
        numbers::<D>(tree.children(node()).ids().await),
        children,
        "children",
    );
    same(
        siblings_ordered,
        numbers::<D>(tree.siblings(node()).ids().await),
        &others,
        "siblings",
    );
    assert_eq!(
        tree.siblings(node()).exists().await.unwrap(),
        !others.is_empty()
    );
    assert_eq!(
        tree.siblings(node()).count().await.unwrap(),
        others.len() as u64
    );
    let with_self = tree.siblings(node()).with_self().ids().await;
    same(
        siblings_ordered,
        numbers::<D>(with_self),
        siblings,
        "siblings with self",
    );
    assert_eq!(numbers::<D>(tree.ancestors(node()).ids().await), ancestors);
    let path = [ancestors.as_slice(), &[one]].concat();
    assert_eq!(numbers::<D>(tree.path(node()).ids().await), path);
    assert_eq!(
        numbers::<D>(tree.parent(node()).ids().await),
        ancestors.last().copied().into_iter().collect::<Vec<_>>()
    );
    assert_eq!(tree.depth(node()).await.unwrap(), ancestors.len());
    assert_eq!(tree.is_leaf(node()).await.unwrap(), below.is_empty());
    assert_eq!(tree.is_root(node()).await.unwrap(), ancestors.is_empty());

    same(
        false,
        numbers::<D>(tree.descendants(node()).ids().await),
        &below,
        "descendants",
    );
    assert_eq!(
        tree.descendants(node()).count().await.unwrap(),
        below.len() as u64
    );
    let found = numbers::<D>(tree.descendants(node()).pre_order().ids().await);
    in_pre_order::<D>(plain, &found, &below);
    if has_order {
        assert_eq!(found, below, "the order of the children of {one}");
        let branches = tree.descendants(node()).branches().await.unwrap();
        let tops = branches
            .iter()
            .map(|branch| Ok(branch.node.id().clone()))
            .collect();
        assert_eq!(numbers::<D>(tops), children, "branches");
        let documents = tree.descendants(node()).pre_order().all().await.unwrap();
        let ids = documents
            .iter()
            .map(|document| Ok(document.id().clone()))
            .collect();
        assert_eq!(numbers::<D>(ids), below, "documents in pre-order");
        let page = tree
            .descendants(node())
            .pre_order()
            .skip(1)
            .limit(2)
            .ids()
            .await;
        assert_eq!(
            numbers::<D>(page),
            below.iter().copied().skip(1).take(2).collect::<Vec<_>>()
        );
        let even = tree
            .descendants(node())
            .pre_order()
            .filter(|_| raw(doc! {"number": {"$mod": [2, 0]}}));
        let expected: Vec<i32> = below.iter().copied().filter(is_even).collect();
        assert_eq!(
            numbers::<D>(even.ids().await),
            expected,
            "filtered in pre-order"
        );
    }
    let whole = [&[one], below.as_slice()].concat();
    let found = numbers::<D>(tree.descendants(node()).with_self().pre_order().ids().await);
    in_pre_order::<D>(plain, &found, &whole);
    for depth in 0..=3 {
        let limit = ancestors.len() + depth as usize;
        let near = |ids: &[i32]| {
            ids.iter()
                .copied()
                .filter(|id| plain.ancestors(*id).len() <= limit)
                .collect::<Vec<_>>()
        };
        let found = numbers::<D>(
            tree.descendants(node())
                .max_depth(depth)
                .pre_order()
                .ids()
                .await,
        );
        in_pre_order::<D>(plain, &found, &near(&below));
        let found = tree
            .descendants(node())
            .max_depth(depth)
            .leaves()
            .ids()
            .await;
        same(
            false,
            numbers::<D>(found),
            &near(&leaves),
            "leaves within some levels",
        );
        let above = ancestors
            .iter()
            .rev()
            .take(depth as usize)
            .rev()
            .copied()
            .collect::<Vec<_>>();
        assert_eq!(
            numbers::<D>(tree.ancestors(node()).max_depth(depth).ids().await),
            above,
            "ancestors within {depth}"
        );
    }
    let found = numbers::<D>(tree.descendants(node()).leaves().pre_order().ids().await);
    in_pre_order::<D>(plain, &found, &leaves);
    let other = plain.ids()[usize::try_from(one * 7).unwrap() % plain.ids().len()];
    assert_eq!(
        tree.is_ancestor_of(node(), named::<D>(other))
            .await
            .unwrap(),
        below.contains(&other)
    );
    assert_eq!(
        tree.are_siblings(node(), named::<D>(other)).await.unwrap(),
        plain.parent(one) == plain.parent(other)
    );
    let other_path = [plain.ancestors(other).as_slice(), &[other]].concat();
    let common = path
        .iter()
        .zip(&other_path)
        .take_while(|(one, other)| one == other);
    let common = common.last().map(|(id, _)| IdOf::<D>::of(*id));
    let nodes = [node(), named::<D>(other)];
    assert_eq!(tree.lowest_common_ancestor(nodes).await.unwrap(), common);
    let nearest = tree
        .ancestors(node())
        .filter(|_| raw(doc! {"number": {"$mod": [2, 0]}}))
        .last();
    let nearest = nearest
        .await
        .unwrap()
        .map(|nearest| Ok(nearest.id().clone()));
    assert_eq!(
        numbers::<D>(nearest.into_iter().collect()),
        ancestors
            .iter()
            .copied()
            .rfind(is_even)
            .into_iter()
            .collect::<Vec<_>>()
    );
    let found = tree
        .siblings(node())
        .filter(|_| raw(doc! {"shop": shop}))
        .ids()
        .await;
    same(
        siblings_ordered,
        numbers::<D>(found),
        &others,
        "filtered siblings",
    );
}

/// Every read of a whole tree.
pub(super) async fn whole<D: ReadTree>(tree: &Tree<D>, plain: &Plain, shop: i32) {
    let is_ordered = D::ORDER == Order::Field;
    let own = || tree.all().filter(|_| raw(doc! {"shop": shop}));
    let all = plain.below(0);
    let found = numbers::<D>(own().pre_order().ids().await);
    in_pre_order::<D>(plain, &found, &all);
    let roots = tree
        .roots()
        .filter(|_| raw(doc! {"shop": shop}))
        .ids()
        .await;
    same(is_ordered, numbers::<D>(roots), plain.children(0), "roots");
    let leaves: Vec<i32> = all
        .iter()
        .copied()
        .filter(|id| plain.children(*id).is_empty())
        .collect();
    let found = tree
        .leaves()
        .filter(|_| raw(doc! {"shop": shop}))
        .pre_order();
    in_pre_order::<D>(plain, &numbers::<D>(found.ids().await), &leaves);
    let found = tree
        .leaves()
        .filter(|_| raw(doc! {"shop": {"$eq": shop}}))
        .count()
        .await
        .unwrap();
    assert_eq!(found, leaves.len() as u64);
    for (from, to) in [
        (0, Some(0)),
        (0, Some(2)),
        (1, Some(1)),
        (1, Some(3)),
        (2, Some(1)),
        (0, None),
        (1, None),
        (2, None),
        (7, Some(4_000_000_000)),
        (1, Some(u32::MAX)),
    ] {
        let inside: Vec<i32> = all
            .iter()
            .copied()
            .filter(|id| {
                let depth = u32::try_from(plain.ancestors(*id).len()).unwrap();
                depth >= from && to.is_none_or(|to| depth <= to)
            })
            .collect();
        let nodes = match to {
            Some(to) => tree.between_depths(from..=to),
            None => tree.from_depth(from),
        };
        let nodes = nodes.filter(|_| raw(doc! {"shop": shop}));
        let found = numbers::<D>(nodes.pre_order().ids().await);
        in_pre_order::<D>(plain, &found, &inside);
    }
    let counts = own().counts_by_depth().await.unwrap();
    let deep = |depth: u32| {
        all.iter()
            .filter(|id| plain.ancestors(**id).len() == depth as usize)
            .count() as u64
    };
    let depths: BTreeSet<u32> = all
        .iter()
        .map(|id| u32::try_from(plain.ancestors(*id).len()).unwrap())
        .collect();
    assert_eq!(
        counts,
        depths
            .into_iter()
            .map(|depth| (depth, deep(depth)))
            .collect()
    );
}

async fn paths_of_any_length_are_read_moved_and_deleted(db: &Db) {
    let tree = db.tree::<PathText>();
    let node = |id: String| PathText {
        id,
        ..PathText::node(1, 1)
    };
    let mut branch = Branch::leaf(node(format!("end{}", "e".repeat(9_000))));
    for level in 0..8 {
        branch = Branch::leaf(node(format!("{level}{}", "é(\n".repeat(2_000)))).with(branch);
    }
    tree.insert_branches([branch]).await.unwrap();
    let ids: Vec<String> = tree.all().pre_order().ids().await.unwrap();
    let named = |at: usize| Ref::<PathText>::from(ids[at].clone());
    assert_eq!(tree.descendants(named(0)).count().await.unwrap(), 8);
    let below = tree.descendants(named(6)).pre_order();
    assert_eq!(below.ids().await.unwrap(), ids[7..]);
    let below = tree.descendants(named(5)).max_depth(2).pre_order();
    assert_eq!(below.ids().await.unwrap(), ids[6..8]);
    assert_eq!(tree.leaves().ids().await.unwrap(), ids[8..]);
    assert_eq!(tree.at_depth(8).ids().await.unwrap(), ids[8..]);
    tree.move_to(named(7), Position::child_of(named(0)))
        .await
        .unwrap();
    assert_eq!(
        tree.ancestors(named(8)).ids().await.unwrap(),
        [ids[0].clone(), ids[7].clone()]
    );
    let report = tree.check().await.unwrap();
    assert!(report.is_sound());
    tree.delete(named(7))
        .policy(odm::tree::TreeDelete::Cascade)
        .await
        .unwrap();
    tree.delete(named(1))
        .policy(odm::tree::TreeDelete::Cascade)
        .await
        .unwrap();
    assert_eq!(tree.all().ids().await.unwrap(), ids[..1]);
}

async fn no_levels_are_no_nodes(db: &Db) {
    let tree = db.tree::<PathText>();
    tree.insert(PathText::node(1, 1), Position::root())
        .await
        .unwrap();
    #[expect(
        clippy::reversed_empty_ranges,
        reason = "the range is what the case is about"
    )]
    let none = tree.between_depths(1..=0).count().await.unwrap();
    assert_eq!(none, 0);
}

async fn paths_have_ids(db: &Db) {
    let tree = db.tree::<PathUuid>();
    let branch = Branch::leaf(PathUuid::node(1, 1))
        .with(Branch::leaf(PathUuid::node(2, 1)).with(PathUuid::node(3, 1)));
    tree.insert_branches([branch]).await.unwrap();
    let node = tree.collection().get(Uuid::of(3)).await.unwrap().unwrap();
    assert_eq!(node.path.ids(), Some(vec![Uuid::of(1), Uuid::of(2)]));
    let root = tree.collection().get(Uuid::of(1)).await.unwrap().unwrap();
    assert_eq!(root.path.ids(), Some(Vec::new()));
}
