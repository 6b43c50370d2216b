//! A persistent ordered tree: a clone costs a pointer, and a change copies only what another clone still holds.
//!
//! What lies in the leaves is up to [`Leaf`]: packed keys (`entries`), or records. A leaf holds many, and the tree is
//! flat, so that memory goes to what is stored and a search touches few places.
//!
//! What this module is not: it knows neither values nor documents.

pub(crate) mod entries;
mod packed;
mod places;
pub(crate) mod records;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

// Unlike the standard library's, it tells without a locked instruction that nobody else holds a node, which each change
// asks of every node on its way.
use triomphe::Arc;

pub(crate) use self::places::{Held, Leaves, Place, Way};

/// The most children of a branch: a byte says which one it is.
const MOST: usize = 64;

/// A leaf from which much is taken asks its neighbours whether they fit in one with it each time it has lost so many.
const ASK: usize = 8;

/// How many of sorted items come before something. Every eighth is asked, then those before the first that does not: no
/// step waits for the one before it, as in a search by halves.
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

/// Splits off what begins at a place, with room to become as long as all of it was where it `grows`.
fn split_off<T: Copy>(items: &mut Vec<T>, at: usize, grows: bool) -> Vec<T> {
    let tail = items.get(at..).unwrap_or_default();
    let mut right = Vec::with_capacity(if grows { items.len() } else { tail.len() });
    right.extend_from_slice(tail);
    items.truncate(at);
    items.shrink_to_fit();
    right
}

/// A sorted run of what the tree holds.
pub(crate) trait Leaf: Clone + Default + fmt::Debug {
    /// What is looked for.
    type Key: ?Sized;
    /// A key to keep.
    type Edge: Clone + fmt::Debug;

    fn len(&self) -> usize;
    /// The first key.
    fn edge(&self) -> Option<Self::Edge>;
    fn compare(edge: &Self::Edge, key: &Self::Key) -> Ordering;
    /// Where the key is, or where it would be.
    fn find(&self, key: &Self::Key) -> Result<usize, usize>;
    /// Whether the key is at this place.
    fn is_at(&self, at: usize, key: &Self::Key) -> bool;
    fn is_too_large(&self) -> bool;
    /// Whether the two may be one.
    fn fits(&self, other: &Self) -> bool;
    /// Whether it is small enough to become one with another: what is not need not be compared with its neighbours.
    fn is_small(&self) -> bool;
    /// Where to split it.
    fn half(&self) -> usize {
        self.len() / 2
    }
    /// Splits off what begins at a place, with room to become as large as this was where it `grows`.
    fn split(&mut self, at: usize, grows: bool) -> Self;
    fn append(&mut self, other: &Self);

    /// The first place that a walk upwards from a bound meets.
    fn start(&self, from: Bound<&Self::Key>) -> usize {
        match from {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.find(key).unwrap_or_else(|at| at),
            Bound::Excluded(key) => self.find(key).map_or_else(|at| at, |at| at + 1),
        }
    }

    /// Behind the first place that a walk downwards from a bound meets.
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

/// Children from left to right; each edge is at or below the first key of the child to its right, and above all keys to
/// its left.
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

    /// Where the key is.
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

    /// The leaf at the end.
    pub(crate) fn last(&self) -> Option<&L> {
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Branch(branch) => node = branch.children.last()?,
            }
        }
    }

    /// Where the key is, and the way there.
    pub(crate) fn locate(&self, key: &L::Key) -> Option<(Place<'_, L>, Way)> {
        let mut node = &self.root;
        let mut way = Way::default();
        loop {
            match &**node {
                Node::Leaf(leaf) => {
                    let at = leaf.find(key).ok()?;
                    way.end(at);
                    return Some((Place { node, at }, way));
                }
                Node::Branch(branch) => {
                    let child = branch.child(key);
                    way.go(child);
                    node = branch.children.get(child)?;
                }
            }
        }
    }

    /// The leaf that holds the first that is not below a key, and the way there.
    pub(crate) fn first_from(&self, key: &L::Key) -> Option<(&L, Way)> {
        let mut node = &self.root;
        let mut right = None;
        let mut start = Bound::Included(key);
        let mut way = Way::default();
        loop {
            match &**node {
                Node::Leaf(leaf) => {
                    let at = leaf.start(start);
                    if at < leaf.len() {
                        way.end(at);
                        return Some((leaf, way));
                    }
                    // Where that one has nothing, its neighbour begins with it.
                    (node, way) = right.take()?;
                    start = Bound::Unbounded;
                }
                Node::Branch(branch) => {
                    let at = branch.bound(start, 0);
                    if matches!(start, Bound::Included(_))
                        && let Some(neighbour) = branch.children.get(at + 1)
                    {
                        let mut there = way;
                        there.go(at + 1);
                        right = Some((neighbour, there));
                    }
                    way.go(at);
                    node = branch.children.get(at)?;
                }
            }
        }
    }

    /// Everything there is, in order.
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

    /// Changes the leaf that holds the key, or would. `edit` adds or takes away one at most, and the answer is its.
    pub(crate) fn edit<R>(&mut self, key: &L::Key, edit: impl FnOnce(&mut L) -> R) -> R {
        self.edit_at(key, None, |leaf, _| edit(leaf))
    }

    /// The same, where it may be known where the key is: what was found need not be searched for again. A way that no
    /// longer leads there does no harm; `edit` is told the place if it did.
    pub(crate) fn edit_at<R>(
        &mut self,
        key: &L::Key,
        way: Option<&Way>,
        edit: impl FnOnce(&mut L, Option<usize>) -> R,
    ) -> R {
        if let Some(way) = way
            && let Some(leaf) = leaf_mut(&mut self.root, way.children())
            && leaf.is_at(way.at(), key)
        {
            let (value, growth) = grown(leaf, |leaf| edit(leaf, Some(way.at())));
            self.follow(key, way, growth);
            return value;
        }
        let way = self.way_to_edit(key);
        let leaf = leaf_mut(&mut self.root, way.children()).expect("a way ends in a leaf");
        let (value, growth) = grown(leaf, |leaf| edit(leaf, None));
        self.follow(key, &way, growth);
        value
    }

    /// After the leaf at the end of a way grew by so many, or shrank.
    #[inline]
    fn follow(&mut self, key: &L::Key, way: &Way, growth: Growth) {
        self.len = self.len.saturating_add_signed(growth.by);
        if growth.unsettles {
            self.settle(key, way, growth.by < 0);
        }
    }

    /// Where the leaf is that holds the key, or would.
    fn way_to_edit(&self, key: &L::Key) -> Way {
        let mut way = Way::default();
        let mut node = &self.root;
        while let Node::Branch(branch) = &**node {
            let child = branch.child_to_edit(key);
            way.go(child);
            match branch.children.get(child) {
                Some(child) => node = child,
                None => break,
            }
        }
        way
    }

    /// After the leaf at the end of a way became too large, or `shrunk`: splits it, or joins it with a neighbour.
    fn settle(&mut self, key: &L::Key, way: &Way, shrunk: bool) {
        let root = Arc::make_mut(&mut self.root);
        if let Some((edge, right)) = root.settle(key, way.children(), true, shrunk) {
            let left = Arc::clone(&self.root);
            self.root = Arc::new(Node::Branch(Branch {
                edges: vec![edge],
                children: vec![left, right],
            }));
        }
        // A branch of one child is no better than the child, and one of none is an empty leaf.
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

    /// The leaf in which a walk from a bound begins, and the place in it.
    pub(crate) fn seek(&self, from: Bound<&L::Key>, backwards: bool) -> Option<(Held<L>, usize)> {
        Node::seek(&self.root, from, backwards)
    }

    /// The same, to go on from leaf to leaf.
    pub(crate) fn leaves(
        &self,
        from: Bound<&L::Key>,
        backwards: bool,
    ) -> Option<(Leaves<L>, usize)> {
        Node::leaves(&self.root, from, backwards)
    }

    /// Shows leaves and places from a bound upwards, until `visit` has enough and answers false.
    pub(crate) fn ascend<'t>(
        &'t self,
        from: Bound<&L::Key>,
        visit: &mut dyn FnMut(&'t L, usize) -> bool,
    ) {
        self.root.ascend(from, visit);
    }

    /// The same, downwards.
    pub(crate) fn descend<'t>(
        &'t self,
        from: Bound<&L::Key>,
        visit: &mut dyn FnMut(&'t L, usize) -> bool,
    ) {
        self.root.descend(from, visit);
    }
}

/// What a change did to a leaf.
#[derive(Debug, Clone, Copy)]
struct Growth {
    by: isize,
    /// Whether the leaf may now be too large, or so small that a neighbour takes it in.
    unsettles: bool,
}

/// Changes a leaf.
#[inline]
fn grown<L: Leaf, R>(leaf: &mut L, edit: impl FnOnce(&mut L) -> R) -> (R, Growth) {
    let before = leaf.len();
    let value = edit(leaf);
    let by = leaf.len().cast_signed() - before.cast_signed();
    let too_large = leaf.is_too_large() && leaf.len() > 1;
    let asks = by < 0 && (leaf.len() < ASK || leaf.len().is_multiple_of(ASK));
    let unsettles = too_large || (asks && leaf.is_small());
    (value, Growth { by, unsettles })
}

/// The leaf at the end of a way, to be changed: what others hold on the way is copied.
fn leaf_mut<'n, L: Leaf>(root: &'n mut Arc<Node<L>>, way: &[u8]) -> Option<&'n mut L> {
    let mut node = Arc::make_mut(root);
    for child in way {
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

/// What was split off to the right.
type Split<L> = Option<(<L as Leaf>::Edge, Arc<Node<L>>)>;

impl<L: Leaf> Node<L> {
    /// Splits the leaf at the end of the way where it became too large, or joins it where it `shrunk`. `last` tells that
    /// nothing lies to the right: what grows there is likely to be appended to.
    fn settle(&mut self, key: &L::Key, way: &[u8], last: bool, shrunk: bool) -> Split<L> {
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
                let (edge, right) = branch.settle(key, way, last, shrunk)?;
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
            Self::Branch(branch) => branch.children.len() < MOST / 2,
        }
    }

    /// Takes in its right neighbour, if the two fit in one.
    fn join(&mut self, edge: &L::Edge, right: &Self) -> bool {
        match (self, right) {
            (Self::Leaf(leaf), Self::Leaf(right)) if leaf.fits(right) => {
                leaf.append(right);
                true
            }
            (Self::Branch(branch), Self::Branch(right))
                if branch.children.len() + right.children.len() <= MOST / 2 =>
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
    /// The child that holds the key if any does.
    fn child(&self, key: &L::Key) -> usize {
        count_before(&self.edges, |edge| {
            L::compare(edge, key) != Ordering::Greater
        })
    }

    /// The same for a change: most of what is new belongs at the end.
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
        way: &[u8],
        last: bool,
        shrunk: bool,
    ) -> Option<(L::Edge, Self)> {
        let (at, way) = way.split_first()?;
        let at = usize::from(*at);
        let is_end = at + 1 == self.children.len();
        let child = self.children.get_mut(at)?;
        let split = Arc::make_mut(child).settle(key, way, last && is_end, shrunk);
        let Some((edge, right)) = split else {
            // What was split off would stand between the child and its neighbour.
            if shrunk {
                self.shrink(at);
            }
            return None;
        };
        self.edges.insert(at, edge);
        self.children.insert(at + 1, right);
        if self.children.len() <= MOST {
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

    /// After something was taken from a child: joins it with a neighbour, or drops it when nothing is left of it.
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
    /// Whether [`join`](Self::join) would do it, so that nothing is copied in vain.
    fn may_join(&self, right: &Self) -> bool {
        match (self, right) {
            (Self::Leaf(leaf), Self::Leaf(right)) => leaf.fits(right),
            (Self::Branch(branch), Self::Branch(right)) => {
                branch.children.len() + right.children.len() <= MOST / 2
            }
            _ => false,
        }
    }
}
