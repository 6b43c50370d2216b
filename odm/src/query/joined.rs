//! Conditions joined by one operator, in a list that is cheap to join further and bounded in depth.

use std::collections::{VecDeque, vec_deque};

use bson::{Bson, Document};

use super::deferred::Deferred;
use super::node::Node;

/// How deep conditions may nest. MongoDB accepts documents of at most 200 levels, so a deeper filter could
/// not be sent. The limit also bounds the recursion of all code that walks the tree.
const MAX_DEPTH: usize = 200;

/// The operands of `And`, `Or` and `Nor`.
///
/// Joining two lists moves the nodes of the shorter one, at either end, so each turn of a loop with
/// `filter = filter & next` costs the same.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Joined {
    nodes: VecDeque<Node>,
    /// The depth of the deepest node.
    below: usize,
}

impl Joined {
    pub(super) fn one(node: Node) -> Self {
        let mut joined = Self::default();
        joined.push(node);
        joined
    }

    pub(super) fn push(&mut self, node: Node) {
        self.below = self.below.max(node.depth());
        self.nodes.push_back(node);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.below = self.below.max(other.below);
        if other.nodes.len() <= self.nodes.len() {
            self.nodes.append(&mut other.nodes);
            return;
        }
        while let Some(last) = self.nodes.pop_back() {
            other.nodes.push_front(last);
        }
        self.nodes = other.nodes;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn depth(&self) -> usize {
        self.below + 1
    }

    pub(super) fn iter(&self) -> vec_deque::Iter<'_, Node> {
        self.nodes.iter()
    }

    /// Returns the only node, or `None` for an empty list; gives a longer list back as the error.
    pub(super) fn only(mut self) -> Result<Option<Node>, Self> {
        if self.nodes.len() > 1 {
            return Err(self);
        }
        Ok(self.nodes.pop_back())
    }

    /// This list, unless it nests too deep.
    pub(super) fn bounded(self) -> Result<Self, Deferred> {
        if self.depth() > MAX_DEPTH {
            return Err(too_deep());
        }
        Ok(self)
    }
}

/// Returns a condition on an element, unless it nests too deep: each `elem_match` inside another one adds a
/// level of documents.
pub(super) fn bounded_document(document: Document) -> Result<Document, Deferred> {
    if document
        .values()
        .all(|value| nests_within(value, MAX_DEPTH))
    {
        Ok(document)
    } else {
        Err(too_deep())
    }
}

/// Whether documents and arrays nest at most `levels` deep; looks no deeper.
fn nests_within(value: &Bson, levels: usize) -> bool {
    let below = |value: &Bson| {
        levels
            .checked_sub(1)
            .is_some_and(|levels| nests_within(value, levels))
    };
    match value {
        Bson::Document(document) => document.values().all(below),
        Bson::Array(array) => array.iter().all(below),
        _ => true,
    }
}

/// The error for a filter that nests deeper than MongoDB accepts.
fn too_deep() -> Deferred {
    Deferred::usage(
        "",
        format!(
            "the filter nests more than {MAX_DEPTH} conditions in one another, and MongoDB takes no document that deep; join them side by side: `Filter::all_of([…])`, `Filter::any_of([…])`"
        ),
    )
}

impl IntoIterator for Joined {
    type Item = Node;
    type IntoIter = vec_deque::IntoIter<Node>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.into_iter()
    }
}
