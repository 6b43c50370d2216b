//! The tree that the kept fields of stored nodes describe, whatever is damaged: what `check` and `repair` go by.
//!
//! One field of a node decides who its parent is; where that can't be read, the other fields do.

mod bounds;
mod parents;
mod ranks;

use std::collections::HashMap;

use bson::Bson;

use self::bounds::Bounds;
pub(super) use self::bounds::WrongBounds;
pub(super) use self::ranks::{by_scope, is_rank};
use crate::error::Result;
use crate::tree::node::{Node, id_key};
use crate::tree::places::Shape;
use crate::tree::tree_store::TreeStore;

/// Nodes by their position in a list, as a forest without cycles.
#[derive(Debug)]
pub(super) struct Survey {
    /// The positions of ids.
    pub(super) positions: HashMap<Vec<u8>, usize>,
    /// Why a node is not where its fields say.
    pub(super) faults: Vec<Option<Misplaced>>,
    /// What the bounds alone describe; empty if the tree has none.
    pub(super) bounds: Bounds,
    pub(super) shape: Shape,
    pub(super) parents: Vec<Option<usize>>,
}

/// Why a node is not where its fields say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Misplaced {
    /// There is no node with the id of its parent.
    Orphan(Bson),
    /// It is its own ancestor.
    Circle,
    /// Its parent is in another scope.
    OtherScope(Bson),
    /// No field says who its parent is.
    Unknown,
}

impl Survey {
    pub(super) fn position(&self, id: &Bson) -> Result<Option<usize>> {
        Ok(self.positions.get(&id_key(id)?).copied())
    }

    pub(super) fn fault(&self, position: usize) -> Option<&Misplaced> {
        self.faults.get(position)?.as_ref()
    }

    pub(super) fn parent(&self, position: usize) -> Option<usize> {
        self.parents.get(position).copied().flatten()
    }
}

impl TreeStore<'_> {
    /// Finds out what tree the nodes are.
    pub(super) fn survey(&self, nodes: &[Node]) -> Result<Survey> {
        let mut positions = HashMap::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            positions.insert(id_key(&node.id)?, position);
        }
        let mut survey = Survey {
            positions,
            faults: vec![None; nodes.len()],
            bounds: self.mended_bounds(nodes),
            shape: Shape::roots(0),
            parents: Vec::new(),
        };
        survey.parents = self.parents_of(nodes, &mut survey)?;
        survey.shape = Shape::of_parents(&survey.parents);
        let mut children = std::mem::take(&mut survey.shape.children);
        for (parent, siblings) in children.iter_mut().enumerate() {
            let listed = nodes.get(parent).map(|node| node.children.as_slice());
            self.put_in_order(nodes, &survey, listed, siblings)?;
        }
        survey.shape.children = children;
        let mut roots = std::mem::take(&mut survey.shape.roots);
        self.put_in_order(nodes, &survey, None, &mut roots)?;
        survey.shape.roots = roots;
        Ok(survey)
    }
}
