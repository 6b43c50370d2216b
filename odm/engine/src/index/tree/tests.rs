//! Compares the tree with that of the standard library under random changes, with snapshots held.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use proptest::prelude::*;

use super::entries::Entries;
use super::records::{Records, Stored};
use super::{Leaf, Node, Tree};

impl Tree<Entries> {
    fn listed(&self, from: Bound<&[u8]>, backwards: bool) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut visit = |leaf: &Entries, at: usize| {
            found.push(leaf.get(at).unwrap().to_vec());
            true
        };
        if backwards {
            self.descend(from, &mut visit);
        } else {
            self.ascend(from, &mut visit);
        }
        found
    }
}

impl Tree<Entries> {
    /// The same as `listed`, from leaf to leaf.
    fn sought(&self, from: Bound<&[u8]>, backwards: bool) -> Vec<Vec<u8>> {
        let mut found: Vec<Vec<u8>> = Vec::new();
        loop {
            let last = found.last().cloned();
            let from = last.as_deref().map_or(from, Bound::Excluded);
            let Some((held, at)) = self.seek(from, backwards) else {
                return found;
            };
            let leaf = held.leaf().unwrap();
            let entry = |at| leaf.get(at).unwrap().to_vec();
            if backwards {
                found.extend((0..=at).rev().map(entry));
            } else {
                found.extend((at..leaf.len()).map(entry));
            }
        }
    }
}

/// Checks the invariants of the nodes; returns the depth.
fn check(node: &Node<Entries>, is_root: bool) -> usize {
    match node {
        Node::Leaf(leaf) => {
            assert!(is_root || leaf.len() > 0, "an empty leaf");
            assert!(!leaf.is_too_large() || leaf.len() == 1);
            0
        }
        Node::Branch(branch) => {
            assert_eq!(branch.children.len(), branch.edges.len() + 1);
            assert!(branch.children.len() <= super::MAX_CHILDREN);
            assert!(!is_root || branch.children.len() > 1);
            let depths: BTreeSet<_> = branch
                .children
                .iter()
                .map(|child| check(child, false))
                .collect();
            assert_eq!(depths.len(), 1, "children of different depths");
            depths.into_iter().next().unwrap() + 1
        }
    }
}

fn key(number: u32) -> Vec<u8> {
    // Of different lengths, some long, and four at a time with the same eight bytes at first.
    let mut key = u64::from(number / 4).to_be_bytes().to_vec();
    key.push(u8::try_from(number % 4).unwrap());
    key.resize(
        9 + usize::try_from(number % 7 * (number % 5) * 40).unwrap(),
        7,
    );
    key
}

fn change(tree: &mut Tree<Entries>, model: &mut BTreeSet<Vec<u8>>, number: u32, insert: bool) {
    let key = key(number);
    if insert {
        tree.edit(&key, |leaf| leaf.insert(&key));
        model.insert(key);
    } else {
        tree.edit(&key, |leaf| leaf.remove(&key));
        model.remove(&key);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_tree_is_a_sorted_set(
        changes in prop::collection::vec((0_u32..3000, prop::bool::weighted(0.6)), 0..6000),
        probes in prop::collection::vec(0_u32..3000, 8),
    ) {
        let mut tree = Tree::default();
        let mut model = BTreeSet::new();
        let mut held = Vec::new();
        for (at, (number, insert)) in changes.into_iter().enumerate() {
            if at % 1500 == 0 {
                held.push((tree.clone(), model.clone()));
            }
            change(&mut tree, &mut model, number, insert);
        }
        held.push((tree, model));
        for (tree, model) in held {
            check(&tree.root, true);
            prop_assert_eq!(tree.len(), model.len());
            let all: Vec<_> = model.iter().cloned().collect();
            prop_assert_eq!(tree.listed(Bound::Unbounded, false), all);
            for number in &probes {
                let mut key = key(*number);
                // A place between keys is sought by some of their bytes.
                key.truncate(if number % 3 == 0 { 7 } else { usize::MAX });
                let first = tree.first_from(&key).and_then(|(leaf, tree_path)| leaf.get(tree_path.at()));
                let wanted = model.range::<[u8], _>((Bound::Included(&*key), Bound::Unbounded)).next();
                prop_assert_eq!(first, wanted.map(Vec::as_slice));
                for bound in [Bound::Included(&*key), Bound::Excluded(&*key)] {
                    let up: Vec<_> = model.range::<[u8], _>((bound, Bound::Unbounded)).cloned().collect();
                    prop_assert_eq!(&tree.sought(bound, false), &up);
                    prop_assert_eq!(tree.listed(bound, false), up);
                    let down: Vec<_> =
                        model.range::<[u8], _>((Bound::Unbounded, bound)).rev().cloned().collect();
                    prop_assert_eq!(&tree.sought(bound, true), &down);
                    prop_assert_eq!(tree.listed(bound, true), down);
                }
            }
        }
    }

    #[test]
    fn records_keep_their_documents_and_stamps_whatever_their_sizes(
        changes in prop::collection::vec((0_u64..600, 0_usize..8), 0..3000),
    ) {
        let mut tree: Tree<Records> = Tree::default();
        let mut model = BTreeMap::new();
        let mut held = Vec::new();
        for (stamp, (record, kind)) in (1..).zip(changes) {
            if stamp % 700 == 1 {
                held.push((tree.clone(), model.clone()));
            }
            let size = [0, 0, 40, 41, 300, 900, 9_000, 40_000][kind];
            let before = if size == 0 {
                let before = tree.edit(&record, |leaf| leaf.remove(record));
                prop_assert_eq!(before, model.remove(&record).map(|(_, size, _)| size));
                continue;
            } else {
                let document = vec![u8::try_from(stamp % 251).unwrap(); size];
                tree.edit(&record, |leaf| leaf.insert(record, stamp, &document))
            };
            let byte = u8::try_from(stamp % 251).unwrap();
            let replaced = model.insert(record, (stamp, size, byte));
            prop_assert_eq!(before, replaced.map(|(_, size, _)| size));
        }
        held.push((tree, model));
        for (tree, model) in held {
            prop_assert_eq!(tree.len(), model.len());
            let mut left = model.iter();
            for place in tree.places() {
                let stored = Stored::at(place).unwrap();
                let (record, (stamp, size, byte)) = left.next().unwrap();
                prop_assert_eq!(stored.record, *record);
                prop_assert_eq!(stored.stamp(), Some(*stamp));
                prop_assert_eq!(stored.bytes, vec![*byte; *size]);
                let kept = Stored::at(tree.find(record).unwrap()).unwrap().keep();
                prop_assert_eq!(&*kept, stored.bytes);
            }
            prop_assert!(left.next().is_none());
            for gone in (0..600).filter(|record| !model.contains_key(record)) {
                prop_assert!(tree.find(&gone).is_none());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A cached path leads to the key after changes, or the search starts anew.
    #[test]
    fn stale_tree_paths_are_harmless(
        changes in prop::collection::vec((0_u32..3000, prop::bool::weighted(0.6)), 0..4000),
        age in 0_usize..30,
    ) {
        let mut tree: Tree<Entries> = Tree::default();
        let mut model = BTreeSet::new();
        let mut ways = std::collections::VecDeque::new();
        for (number, insert) in changes {
            let wanted = key(number);
            prop_assert_eq!(tree.locate(&wanted).is_some(), model.contains(&wanted));
            if let Some((place, tree_path)) = tree.locate(&wanted) {
                prop_assert_eq!(place.leaf().unwrap().get(tree_path.at()), Some(&*wanted));
                ways.push_back((wanted, tree_path));
            }
            change(&mut tree, &mut model, number, insert);
            if ways.len() > age {
                let (wanted, tree_path) = ways.pop_front().unwrap();
                tree.edit_at(&wanted, Some(&tree_path), |leaf, at| match at {
                    Some(at) => leaf.remove_at(at),
                    None => leaf.remove(&wanted),
                });
                model.remove(&wanted);
            }
        }
        check(&tree.root, true);
        let all: Vec<_> = model.iter().cloned().collect();
        prop_assert_eq!(tree.listed(Bound::Unbounded, false), all);
    }
}

#[test]
fn a_split_during_removal_does_not_merge_over_the_new_leaf() {
    let mut tree: Tree<Records> = Tree::default();
    let mut put = |record: u64, size| {
        let document = vec![1; size];
        tree.edit(&record, |leaf| leaf.insert(record, 1, &document));
    };
    (0..65).for_each(|record| put(record, 50));
    // One leaf is left with small documents, a large one and small ones again, beside one of a single small one.
    for (record, size) in [(30, 9_000), (31, 40_000), (40, 9_000)] {
        put(record, size);
    }
    tree.edit(&63, |leaf| leaf.remove(63));
    let records: Vec<u64> = tree
        .places()
        .map(|place| Stored::at(place).unwrap().record)
        .collect();
    let left: Vec<u64> = (0..65).filter(|record| *record != 63).collect();
    assert_eq!(records, left);
}

/// Removals at one end of a leaf and insertions at the other, or in between.
#[test]
fn leaves_emptied_from_the_front_are_refilled() {
    let mut leaf = Records::default();
    let mut keys = Entries::default();
    let mut model = BTreeMap::new();
    let document = |record: u64| {
        vec![u8::try_from(record % 250).unwrap(); 10 + usize::try_from(record % 13).unwrap()]
    };
    let key = |record: u64| {
        record
            .to_be_bytes()
            .repeat(1 + usize::try_from(record % 3).unwrap())
    };
    for round in 0..40_u64 {
        let added = (0..12)
            .map(|at| round * 100 + at * 7)
            .chain([round * 61, round * 50 + 3]);
        for record in added {
            leaf.insert(record, round, &document(record));
            keys.insert(&key(record));
            model.insert(record, round);
        }
        for _ in 0..11 {
            let (first, _) = model.pop_first().unwrap();
            assert_eq!(leaf.remove(first), Some(document(first).len()));
            keys.remove(&key(first));
        }
        let copies = [(leaf.clone(), keys.clone()), (leaf, keys)];
        for (leaf, keys) in &copies {
            assert_eq!((leaf.len(), keys.len()), (model.len(), model.len()));
            for (at, (record, round)) in model.iter().enumerate() {
                assert_eq!(leaf.get(at), Some((*record, &*document(*record))));
                assert_eq!(leaf.stamp(at), Some(*round));
                assert_eq!(keys.get(at), Some(&*key(*record)));
            }
        }
        [_, (leaf, keys)] = copies;
    }
}

#[test]
fn large_documents_get_their_own_leaf() {
    let mut tree: Tree<Records> = Tree::default();
    for record in 0..100 {
        tree.edit(&record, |leaf| leaf.insert(record, 1, &[1; 100]));
    }
    for stamp in 2..12 {
        tree.edit(&50, |leaf| leaf.insert(50, stamp, &vec![2; 1_000_000]));
    }
    let place = tree.find(&50).unwrap();
    assert_eq!(place.leaf().unwrap().len(), 1);
}

#[test]
fn appends_fill_leaves_and_removals_empty_the_tree() {
    let mut tree: Tree<Entries> = Tree::default();
    let key = |number: u64| number.to_be_bytes();
    for number in 0..20_000 {
        tree.edit(&key(number), |leaf| leaf.insert(&key(number)));
    }
    let mut leaves = 0;
    tree.ascend(Bound::Unbounded, &mut |_, at| {
        leaves += usize::from(at == 0);
        true
    });
    assert_eq!(leaves, 20_000_usize.div_ceil(128));
    check(&tree.root, true);
    for number in (0..20_000).rev() {
        tree.edit(&key(number), |leaf| leaf.remove(&key(number)));
    }
    assert_eq!(tree.len(), 0);
    assert!(matches!(&*tree.root, Node::Leaf(leaf) if leaf.len() == 0));
}
