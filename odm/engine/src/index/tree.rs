//! A persistent ordered tree: a clone costs a pointer, and a change copies only what another clone still holds.
//!
//! [`Leaf`] defines the content of leaves: packed keys (`entries`) or records. A leaf holds many items and the tree is
//! flat, so that little memory goes to structure and a search touches few nodes.
//!
//! What this module is not: it knows neither values nor documents.

mod cursor;
pub(crate) mod entries;
mod packed;
pub(crate) mod records;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

// Unlike the standard library's `Arc`, this one checks for unique ownership without an atomic read-modify-write. Each
// change makes that check for every node on its way.
use triomphe::Arc;

pub(crate) use self::cursor::{LeafRef, Leaves, Place, TreePath};

/// The most children of a branch. A child's position must fit in a byte.
const MAX_CHILDREN: usize = 64;

/// A leaf that loses an item tries to join a neighbour if its new length is a multiple of this, or smaller than this.
const MERGE_STEP: usize = 8;

/// Counts the leading items for which `is_before` holds. It tests every eighth item, then the items of one step. Unlike
/// in a binary search, no test depends on the result of the one before it.
#[inline]
fn count_before<T>(items: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    const STEP: usize = 8;
    let steps = items.chunks_exact(STEP);
    let start = STEP
        * steps
            .filter(|step| step.last().is_some_and(&is_before))
            .count();
    let rest = items.iter().skip(start).take(STEP);
    start + rest.filter(|item| is_before(item)).count()
}

/// Splits off the items from `at` on. If it `grows`, the right part gets the capacity for as many items as there were
/// in total.
fn split_off<T: Copy>(items: &mut Vec<T>, at: usize, grows: bool) -> Vec<T> {
    let tail = items.get(at..).unwrap_or_default();
    let mut right = Vec::with_capacity(if grows { items.len() } else { tail.len() });
    right.extend_from_slice(tail);
    items.truncate(at);
    items.shrink_to_fit();
    right
}

/// A sorted run of items at the bottom of the tree.
pub(crate) trait Leaf: Clone + Default + fmt::Debug {
    /// The form of a key in searches.
    type Key: ?Sized;
    /// The form of a key in branches.
    type Edge: Clone + fmt::Debug;

    fn len(&self) -> usize;
    /// The first key.
    fn edge(&self) -> Option<Self::Edge>;
    fn compare(edge: &Self::Edge, key: &Self::Key) -> Ordering;
    /// Returns the position of the key, or the position to insert it at.
    fn find(&self, key: &Self::Key) -> Result<usize, usize>;
    /// Whether the key is at this position.
    fn is_at(&self, at: usize, key: &Self::Key) -> bool;
    fn is_too_large(&self) -> bool;
    /// Whether the two leaves may be joined.
    fn fits(&self, other: &Self) -> bool;
    /// Whether the leaf is small enough to be joined with another. Larger leaves need no comparison with their
    /// neighbours.
    fn is_small(&self) -> bool;
    /// The position to split at.
    fn half(&self) -> usize {
        self.len() / 2
    }
    /// Splits off the items from `at` on. If it `grows`, the right part gets the capacity that all items needed.
    fn split(&mut self, at: usize, grows: bool) -> Self;
    fn append(&mut self, other: &Self);

    /// The first position of an upward walk from a bound.
    fn start(&self, from: Bound<&Self::Key>) -> usize {
        match from {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.find(key).unwrap_or_else(|at| at),
            Bound::Excluded(key) => self.find(key).map_or_else(|at| at, |at| at + 1),
        }
    }

    /// The position after the first one of a downward walk from a bound.
    fn end(&self, from: Bound<&Self::Key>) -> usize {
        match from {
            Bound::Unbounded => self.len(),
            Bound::Included(key) => self.find(key).map_or_else(|at| at, |at| at + 1),
            Bound::Excluded(key) => self.find(key).unwrap_or_else(|at| at),
        }
    }
}

#[derive(Debug, Clone)]
enum Node<L: Leaf> {
    Leaf(L),
    Branch(Branch<L>),
}

/// Children from left to right. Each edge is at or below the first key of the child to its right, and above all keys of
/// the children to its left.
#[derive(Debug, Clone)]
struct Branch<L: Leaf> {
    edges: Vec<L::Edge>,
    children: Vec<Arc<Node<L>>>,
}

/// The tree.
#[derive(Debug, Clone)]
pub(crate) struct Tree<L: Leaf> {
    root: Arc<Node<L>>,
    len: usize,
}

impl<L: Leaf> Default for Tree<L> {
    fn default() -> Self {
        Self {
            root: Arc::new(Node::Leaf(L::default())),
            len: 0,
        }
    }
}

impl<L: Leaf> Tree<L> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Finds a key.
    pub(crate) fn find(&self, key: &L::Key) -> Option<Place<'_, L>> {
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Leaf(leaf) => {
                    let at = leaf.find(key).ok()?;
                    return Some(Place { node, at });
                }
                Node::Branch(branch) => node = branch.children.get(branch.child(key))?,
            }
        }
    }

    /// The leaf that holds a key, and the key's position, for changing the item in place.
    pub(crate) fn find_mut(&mut self, key: &L::Key) -> Option<(&mut L, usize)> {
        let tree_path = self.way_to_edit(key);
        let leaf = leaf_mut(&mut self.root, tree_path.children())?;
        let at = leaf.find(key).ok()?;
        Some((leaf, at))
    }

    /// The last leaf.
    pub(crate) fn last(&self) -> Option<&L> {
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Branch(branch) => node = branch.children.last()?,
            }
        }
    }

    /// Finds a key, and the way to it.
    pub(crate) fn locate(&self, key: &L::Key) -> Option<(Place<'_, L>, TreePath)> {
        let mut node = &self.root;
        let mut tree_path = TreePath::default();
        loop {
            match &**node {
                Node::Leaf(leaf) => {
                    let at = leaf.find(key).ok()?;
                    tree_path.end(at);
                    return Some((Place { node, at }, tree_path));
                }
                Node::Branch(branch) => {
                    let child = branch.child(key);
                    tree_path.go(child);
                    node = branch.children.get(child)?;
                }
            }
        }
    }

    /// Returns the leaf with the first key that is not below `key`, and the way to that key.
    pub(crate) fn first_from(&self, key: &L::Key) -> Option<(&L, TreePath)> {
        let mut node = &self.root;
        let mut right = None;
        let mut start = Bound::Included(key);
        let mut tree_path = TreePath::default();
        loop {
            match &**node {
                Node::Leaf(leaf) => {
                    let at = leaf.start(start);
                    if at < leaf.len() {
                        tree_path.end(at);
                        return Some((leaf, tree_path));
                    }
                    // If that leaf has no such key, the next leaf starts with it.
                    (node, tree_path) = right.take()?;
                    start = Bound::Unbounded;
                }
                Node::Branch(branch) => {
                    let at = branch.bound(start, 0);
                    if matches!(start, Bound::Included(_))
                        && let Some(neighbour) = branch.children.get(at + 1)
                    {
                        let mut there = tree_path;
                        there.go(at + 1);
                        right = Some((neighbour, there));
                    }
                    tree_path.go(at);
                    node = branch.children.get(at)?;
                }
            }
        }
    }

    /// Iterates over all items in order.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place<'_, L>> {
        let mut above = vec![std::slice::from_ref(&self.root).iter()];
        let mut here: Option<(&Arc<Node<L>>, usize, usize)> = None;
        std::iter::from_fn(move || {
            loop {
                if let Some((node, at, len)) = &mut here
                    && *at < *len
                {
                    *at += 1;
                    return Some(Place { node, at: *at - 1 });
                }
                let Some(node) = above.last_mut()?.next() else {
                    above.pop();
                    continue;
                };
                match &**node {
                    Node::Leaf(leaf) => here = Some((node, 0, leaf.len())),
                    Node::Branch(branch) => above.push(branch.children.iter()),
                }
            }
        })
    }

    /// Changes the leaf that holds the key or would hold it, and returns the result of `edit`. `edit` may add or remove
    /// at most one item.
    pub(crate) fn edit<R>(&mut self, key: &L::Key, edit: impl FnOnce(&mut L) -> R) -> R {
        self.edit_at(key, None, |leaf, _| edit(leaf))
    }

    /// Like `edit`, with an optional `tree_path` from an earlier search, which saves a new one. An outdated way is harmless.
    /// `edit` receives the key's position if the way was valid.
    pub(crate) fn edit_at<R>(
        &mut self,
        key: &L::Key,
        tree_path: Option<&TreePath>,
        edit: impl FnOnce(&mut L, Option<usize>) -> R,
    ) -> R {
        if let Some(tree_path) = tree_path
            && let Some(leaf) = leaf_mut(&mut self.root, tree_path.children())
            && leaf.is_at(tree_path.at(), key)
        {
            let (value, growth) = grown(leaf, |leaf| edit(leaf, Some(tree_path.at())));
            self.follow(key, tree_path, growth);
            return value;
        }
        let tree_path = self.way_to_edit(key);
        let leaf = leaf_mut(&mut self.root, tree_path.children()).expect("a way ends in a leaf");
        let (value, growth) = grown(leaf, |leaf| edit(leaf, None));
        self.follow(key, &tree_path, growth);
        value
    }

    /// Updates the length after the leaf at the end of a way changed, and rebalances if necessary.
    #[inline]
    fn follow(&mut self, key: &L::Key, tree_path: &TreePath, growth: Growth) {
        self.len = self.len.saturating_add_signed(growth.by);
        if growth.unsettles {
            self.settle(key, tree_path, growth.by < 0);
        }
    }

    /// The way to the leaf that holds the key or would hold it.
    fn way_to_edit(&self, key: &L::Key) -> TreePath {
        let mut tree_path = TreePath::default();
        let mut node = &self.root;
        while let Node::Branch(branch) = &**node {
            let child = branch.child_to_edit(key);
            tree_path.go(child);
            match branch.children.get(child) {
                Some(child) => node = child,
                None => break,
            }
        }
        tree_path
    }

    /// Splits the leaf at the end of a way if it became too large, or joins it with a neighbour if it `shrunk`.
    fn settle(&mut self, key: &L::Key, tree_path: &TreePath, shrunk: bool) {
        let root = Arc::make_mut(&mut self.root);
        if let Some((edge, right)) = root.settle(key, tree_path.children(), true, shrunk) {
            let left = Arc::clone(&self.root);
            self.root = Arc::new(Node::Branch(Branch {
                edges: vec![edge],
                children: vec![left, right],
            }));
        }
        // A root with one child is replaced by the child, and a root without children by an empty leaf.
        while shrunk
            && let Node::Branch(branch) = &*self.root
            && branch.children.len() < 2
        {
            self.root = match branch.children.first() {
                Some(only) => Arc::clone(only),
                None => Arc::new(Node::Leaf(L::default())),
            };
        }
    }

    /// Returns the leaf in which a walk from a bound begins, and the position in it.
    pub(crate) fn seek(
        &self,
        from: Bound<&L::Key>,
        backwards: bool,
    ) -> Option<(LeafRef<L>, usize)> {
        Node::seek(&self.root, from, backwards)
    }

    /// Like `seek`, but the result can go on from leaf to leaf.
    pub(crate) fn leaves(
        &self,
        from: Bound<&L::Key>,
        backwards: bool,
    ) -> Option<(Leaves<L>, usize)> {
        Node::leaves(&self.root, from, backwards)
    }

    /// Calls `visit` with leaves and positions, upwards from a bound, until `visit` returns false.
    pub(crate) fn ascend<'t>(
        &'t self,
        from: Bound<&L::Key>,
        visit: &mut dyn FnMut(&'t L, usize) -> bool,
    ) {
        self.root.ascend(from, visit);
    }

    /// Calls `visit` with leaves and positions, downwards from a bound, until `visit` returns false.
    pub(crate) fn descend<'t>(
        &'t self,
        from: Bound<&L::Key>,
        visit: &mut dyn FnMut(&'t L, usize) -> bool,
    ) {
        self.root.descend(from, visit);
    }
}

/// The effect of a change on a leaf.
#[derive(Debug, Clone, Copy)]
struct Growth {
    by: isize,
    /// Whether the leaf may now be too large, or small enough to join a neighbour.
    unsettles: bool,
}

/// Changes a leaf and measures the effect.
#[inline]
fn grown<L: Leaf, R>(leaf: &mut L, edit: impl FnOnce(&mut L) -> R) -> (R, Growth) {
    let before = leaf.len();
    let value = edit(leaf);
    let by = leaf.len().cast_signed() - before.cast_signed();
    let too_large = leaf.is_too_large() && leaf.len() > 1;
    let tries_merge = by < 0 && (leaf.len() < MERGE_STEP || leaf.len().is_multiple_of(MERGE_STEP));
    let unsettles = too_large || (tries_merge && leaf.is_small());
    (value, Growth { by, unsettles })
}

/// The leaf at the end of a way, for changing it. Nodes on the way that others share are copied.
fn leaf_mut<'n, L: Leaf>(root: &'n mut Arc<Node<L>>, tree_path: &[u8]) -> Option<&'n mut L> {
    let mut node = Arc::make_mut(root);
    for child in tree_path {
        let Node::Branch(branch) = node else {
            return None;
        };
        node = Arc::make_mut(branch.children.get_mut(usize::from(*child))?);
    }
    match node {
        Node::Leaf(leaf) => Some(leaf),
        Node::Branch(_) => None,
    }
}

/// The right part of a split node, and its first key.
type Split<L> = Option<(<L as Leaf>::Edge, Arc<Node<L>>)>;

impl<L: Leaf> Node<L> {
    /// Splits the leaf at the end of the way if it became too large, or joins it if it `shrunk`. `last` means that
    /// nothing lies to the right: appends are then likely, so the right part starts with only the last item.
    fn settle(&mut self, key: &L::Key, tree_path: &[u8], last: bool, shrunk: bool) -> Split<L> {
        match self {
            Self::Leaf(leaf) => {
                if !leaf.is_too_large() || leaf.len() < 2 {
                    return None;
                }
                let end = leaf.len() - 1;
                let grows = last && leaf.find(key) == Ok(end);
                let at = if grows { end } else { leaf.half() };
                let right = leaf.split(at, grows);
                Some((right.edge()?, Arc::new(Self::Leaf(right))))
            }
            Self::Branch(branch) => {
                let (edge, right) = branch.settle(key, tree_path, last, shrunk)?;
                Some((edge, Arc::new(Self::Branch(right))))
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.len() == 0,
            Self::Branch(branch) => branch.children.is_empty(),
        }
    }

    fn is_small(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.is_small(),
            Self::Branch(branch) => branch.children.len() < MAX_CHILDREN / 2,
        }
    }

    /// Takes in the right neighbour if both fit in one node. Returns whether they did.
    fn join(&mut self, edge: &L::Edge, right: &Self) -> bool {
        match (self, right) {
            (Self::Leaf(leaf), Self::Leaf(right)) if leaf.fits(right) => {
                leaf.append(right);
                true
            }
            (Self::Branch(branch), Self::Branch(right))
                if branch.children.len() + right.children.len() <= MAX_CHILDREN / 2 =>
            {
                branch.edges.push(edge.clone());
                branch.edges.extend_from_slice(&right.edges);
                branch.children.extend_from_slice(&right.children);
                true
            }
            _ => false,
        }
    }

    fn leaf(&self) -> Option<&L> {
        match self {
            Self::Leaf(leaf) => Some(leaf),
            Self::Branch(_) => None,
        }
    }

    fn ascend<'t>(
        &'t self,
        from: Bound<&L::Key>,
        visit: &mut dyn FnMut(&'t L, usize) -> bool,
    ) -> bool {
        match self {
            Self::Leaf(leaf) => {
                let start = leaf.start(from);
                (start..leaf.len()).all(|at| visit(leaf, at))
            }
            Self::Branch(branch) => {
                let start = branch.bound(from, 0);
                let mut from = from;
                branch.children.iter().skip(start).all(|child| {
                    let from = std::mem::replace(&mut from, Bound::Unbounded);
                    child.ascend(from, visit)
                })
            }
        }
    }

    fn descend<'t>(
        &'t self,
        from: Bound<&L::Key>,
        visit: &mut dyn FnMut(&'t L, usize) -> bool,
    ) -> bool {
        match self {
            Self::Leaf(leaf) => {
                let end = leaf.end(from);
                (0..end).rev().all(|at| visit(leaf, at))
            }
            Self::Branch(branch) => {
                let end = branch.bound(from, branch.edges.len());
                let mut from = from;
                branch.children.iter().take(end + 1).rev().all(|child| {
                    let from = std::mem::replace(&mut from, Bound::Unbounded);
                    child.descend(from, visit)
                })
            }
        }
    }
}

impl<L: Leaf> Branch<L> {
    /// The position of the child that would hold the key.
    fn child(&self, key: &L::Key) -> usize {
        count_before(&self.edges, |edge| {
            L::compare(edge, key) != Ordering::Greater
        })
    }

    /// Like `child`, but tests the last child first, because most new keys belong at the end.
    fn child_to_edit(&self, key: &L::Key) -> usize {
        match self.edges.last() {
            Some(edge) if L::compare(edge, key) != Ordering::Greater => self.edges.len(),
            _ => self.child(key),
        }
    }

    fn bound(&self, bound: Bound<&L::Key>, unbounded: usize) -> usize {
        match bound {
            Bound::Included(key) | Bound::Excluded(key) => self.child(key),
            Bound::Unbounded => unbounded,
        }
    }

    fn settle(
        &mut self,
        key: &L::Key,
        tree_path: &[u8],
        last: bool,
        shrunk: bool,
    ) -> Option<(L::Edge, Self)> {
        let (at, tree_path) = tree_path.split_first()?;
        let at = usize::from(*at);
        let is_end = at + 1 == self.children.len();
        let child = self.children.get_mut(at)?;
        let split = Arc::make_mut(child).settle(key, tree_path, last && is_end, shrunk);
        let Some((edge, right)) = split else {
            // Joining waits if the child was split, because the new part lies between the child and its neighbour.
            if shrunk {
                self.shrink(at);
            }
            return None;
        };
        self.edges.insert(at, edge);
        self.children.insert(at + 1, right);
        if self.children.len() <= MAX_CHILDREN {
            return None;
        }
        let half = if last && is_end {
            self.children.len() - 1
        } else {
            self.children.len() / 2
        };
        let children = self.children.split_off(half);
        let edges = self.edges.split_off(half);
        let edge = self.edges.pop()?;
        Some((edge, Self { edges, children }))
    }

    /// Joins a child that lost items with a neighbour, or drops it if it is empty.
    fn shrink(&mut self, at: usize) {
        if self.children.get(at).is_some_and(|child| child.is_empty()) {
            self.children.remove(at);
            if !self.edges.is_empty() {
                self.edges.remove(at.saturating_sub(1));
            }
            return;
        }
        if !self.children.get(at).is_some_and(|child| child.is_small()) {
            return;
        }
        for left in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            let (Some(edge), Some((head, tail))) = (
                self.edges.get(left),
                self.children.split_at_mut_checked(left + 1),
            ) else {
                continue;
            };
            let (Some(one), Some(other)) = (head.last_mut(), tail.first()) else {
                continue;
            };
            if one.may_join(other) && Arc::make_mut(one).join(edge, other) {
                self.children.remove(left + 1);
                self.edges.remove(left);
                return;
            }
        }
    }
}

impl<L: Leaf> Node<L> {
    /// Whether [`join`](Self::join) would succeed. Checking first avoids copying a shared node for nothing.
    fn may_join(&self, right: &Self) -> bool {
        match (self, right) {
            (Self::Leaf(leaf), Self::Leaf(right)) => leaf.fits(right),
            (Self::Branch(branch), Self::Branch(right)) => {
                branch.children.len() + right.children.len() <= MAX_CHILDREN / 2
            }
            _ => false,
        }
    }
}
