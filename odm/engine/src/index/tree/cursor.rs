//! Positions in a tree, and the ways to them.

use std::ops::Bound;

use triomphe::Arc;

use crate::index::tree::{Leaf, Node};

/// A leaf that a reader holds; changes of the tree do not affect it.
#[derive(Debug, Clone)]
pub(crate) struct LeafRef<L: Leaf>(Arc<Node<L>>);

impl<L: Leaf> LeafRef<L> {
    pub(crate) fn leaf(&self) -> Option<&L> {
        self.0.leaf()
    }
}

/// A walk from leaf to leaf below one branch; changes of the tree do not affect it.
#[derive(Debug)]
pub(crate) struct Leaves<L: Leaf> {
    /// A branch above leaves, or the only leaf.
    above: Arc<Node<L>>,
    at: usize,
}

impl<L: Leaf> Leaves<L> {
    fn node(&self) -> Option<&Arc<Node<L>>> {
        match &*self.above {
            Node::Leaf(_) => Some(&self.above),
            Node::Branch(branch) => branch.children.get(self.at),
        }
    }

    /// The current leaf.
    pub(crate) fn leaf(&self) -> Option<&L> {
        self.node()?.leaf()
    }

    pub(crate) fn place(&self, at: usize) -> Option<Place<'_, L>> {
        Some(Place {
            node: self.node()?,
            at,
        })
    }

    /// The leaf that the walk reaches after this many more leaves.
    pub(crate) fn ahead(&self, leaves: usize, backwards: bool) -> Option<&L> {
        let Node::Branch(branch) = &*self.above else {
            return None;
        };
        let at = if backwards {
            self.at.checked_sub(leaves)?
        } else {
            self.at + leaves
        };
        branch.children.get(at)?.leaf()
    }

    /// Moves to the next leaf. Returns false if the branch has no more.
    pub(crate) fn go_on(&mut self, backwards: bool) -> bool {
        let Node::Branch(branch) = &*self.above else {
            return false;
        };
        let next = if backwards {
            self.at.checked_sub(1)
        } else {
            Some(self.at + 1).filter(|next| *next < branch.children.len())
        };
        self.at = next.unwrap_or(self.at);
        next.is_some()
    }
}

/// The most branches on a way. Small neighbours are joined, so a deeper tree would not fit in memory.
const DEEPEST: usize = 14;

/// The way from the root of a tree to an item: the child of each branch, and the position in the leaf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TreePath {
    children: [u8; DEEPEST],
    depth: u8,
    at: u32,
}

impl TreePath {
    /// Adds a child to the way. If it does not fit, the way is invalid, which lookups detect.
    #[inline]
    pub(super) fn go(&mut self, child: usize) {
        if let Some(place) = self.children.get_mut(usize::from(self.depth)) {
            *place = u8::try_from(child).unwrap_or(u8::MAX);
            self.depth += 1;
        }
    }

    #[inline]
    pub(super) fn end(&mut self, at: usize) {
        self.at = u32::try_from(at).unwrap_or(u32::MAX);
    }

    #[inline]
    pub(super) fn children(&self) -> &[u8] {
        self.children
            .get(..usize::from(self.depth))
            .unwrap_or_default()
    }

    /// The position in the leaf.
    #[inline]
    pub(crate) fn at(self) -> usize {
        usize::try_from(self.at).unwrap_or(usize::MAX)
    }
}

/// The position of an item in a tree.
#[derive(Debug)]
pub(crate) struct Place<'t, L: Leaf> {
    pub(super) node: &'t Arc<Node<L>>,
    pub(crate) at: usize,
}

#[expect(
    clippy::expl_impl_clone_on_copy,
    reason = "derived, it would ask the same of leaves"
)]
impl<L: Leaf> Clone for Place<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Leaf> Copy for Place<'_, L> {}

impl<'t, L: Leaf> Place<'t, L> {
    pub(crate) fn leaf(self) -> Option<&'t L> {
        self.node.leaf()
    }

    pub(crate) fn hold(self) -> LeafRef<L> {
        LeafRef(Arc::clone(self.node))
    }
}

impl<L: Leaf> Node<L> {
    pub(super) fn seek(
        this: &Arc<Self>,
        from: Bound<&L::Key>,
        backwards: bool,
    ) -> Option<(LeafRef<L>, usize)> {
        let (leaves, at) = Self::leaves(this, from, backwards)?;
        Some((LeafRef(Arc::clone(leaves.node()?)), at))
    }

    pub(super) fn leaves(
        this: &Arc<Self>,
        from: Bound<&L::Key>,
        backwards: bool,
    ) -> Option<(Leaves<L>, usize)> {
        let here = |at| Leaves {
            above: Arc::clone(this),
            at,
        };
        let branch = match &**this {
            Self::Leaf(leaf) => {
                let at = first_place(leaf, from, backwards)?;
                return Some((here(0), at));
            }
            Self::Branch(branch) => branch,
        };
        let within = |child: usize, from: Bound<&L::Key>| {
            let node = branch.children.get(child)?;
            match &**node {
                Self::Leaf(leaf) => {
                    let at = first_place(leaf, from, backwards)?;
                    Some((here(child), at))
                }
                Self::Branch(_) => Self::leaves(node, from, backwards),
            }
        };
        // If that child has nothing in the bound, continue with its neighbour.
        if backwards {
            let last = branch.bound(from, branch.edges.len());
            within(last, from).or_else(|| within(last.checked_sub(1)?, Bound::Unbounded))
        } else {
            let first = branch.bound(from, 0);
            within(first, from).or_else(|| within(first + 1, Bound::Unbounded))
        }
    }
}

/// The first position of a walk from a bound in a leaf.
fn first_place<L: Leaf>(leaf: &L, from: Bound<&L::Key>, backwards: bool) -> Option<usize> {
    if backwards {
        leaf.end(from).checked_sub(1)
    } else {
        Some(leaf.start(from)).filter(|at| *at < leaf.len())
    }
}
