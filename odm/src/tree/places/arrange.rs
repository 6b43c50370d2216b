//! The shape of a tree in memory, from the kept fields of its nodes.

use std::collections::HashMap;

use bson::Bson;

use super::ways::{OrderBy, ParentBy};
use crate::error::Result;
use crate::model::TreeMeta;
use crate::tree::node::{Node, id_key, path_ids, same_scope, scope_key};
use crate::tree::tree_store::TreeStore;

/// Nodes by their position in a list, as a forest. A node whose parent is not in the list is a root.
#[derive(Debug)]
pub(in crate::tree) struct Shape {
    pub(in crate::tree) roots: Vec<usize>,
    /// The children of each node, in their order.
    pub(in crate::tree) children: Vec<Vec<usize>>,
}

impl TreeStore<'_> {
    /// Arranges nodes. Siblings without an order keep that of the list.
    pub(in crate::tree) fn arrange(&self, nodes: &[Node]) -> Result<Shape> {
        self.arrange_below(nodes, None)
    }

    /// Arranges the nodes below one that is not among them, whose children are `top`.
    pub(in crate::tree) fn arrange_below(
        &self,
        nodes: &[Node],
        top: Option<&[Bson]>,
    ) -> Result<Shape> {
        let mut positions = HashMap::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            positions.insert(id_key(&node.id)?, position);
        }
        let parents = self.parents(nodes, &positions)?;
        let mut shape = Shape {
            roots: Vec::new(),
            children: vec![Vec::new(); nodes.len()],
        };
        let scope = |position: usize| nodes.get(position).and_then(|node| node.scope.as_ref());
        for (position, parent) in parents.into_iter().enumerate() {
            match parent {
                Some(parent)
                    if parent != position && same_scope(scope(parent), scope(position)) =>
                {
                    if let Some(siblings) = shape.children.get_mut(parent) {
                        siblings.push(position);
                    }
                }
                _ => shape.roots.push(position),
            }
        }
        let lists = shape.children.iter_mut().enumerate();
        for (parent, list) in lists {
            let listed = nodes.get(parent).map(|parent| parent.children.as_slice());
            self.sort(nodes, listed, list)?;
        }
        self.sort(nodes, top, &mut shape.roots)?;
        Ok(shape)
    }

    /// The position of each node's parent.
    fn parents(
        &self,
        nodes: &[Node],
        positions: &HashMap<Vec<u8>, usize>,
    ) -> Result<Vec<Option<usize>>> {
        let tree = self.tree;
        let mut parents = vec![None; nodes.len()];
        let named: fn(&TreeMeta, &Node) -> Option<Bson> = match self.ways.parent {
            ParentBy::Parent(_) => |_, node| node.parent.clone(),
            ParentBy::Ancestors(_) => |_, node| node.ancestors.last().cloned(),
            ParentBy::Path(_) => |tree, node| path_ids(tree, node.path.as_deref()?)?.pop(),
            ParentBy::Bounds(..) => {
                parents_by_bounds(nodes, &mut parents);
                return Ok(parents);
            }
            ParentBy::Children(_) => {
                for (position, node) in nodes.iter().enumerate() {
                    for child in &node.children {
                        let child = positions.get(&id_key(child)?);
                        if let Some(parent) = child.and_then(|child| parents.get_mut(*child)) {
                            parent.get_or_insert(position);
                        }
                    }
                }
                return Ok(parents);
            }
        };
        for (node, parent) in nodes.iter().zip(&mut parents) {
            if let Some(id) = named(tree, node) {
                *parent = positions.get(&id_key(&id)?).copied();
            }
        }
        Ok(parents)
    }

    /// Puts siblings in their order.
    fn sort(&self, nodes: &[Node], listed: Option<&[Bson]>, siblings: &mut [usize]) -> Result<()> {
        match self.ways.siblings {
            OrderBy::Rank(_) => {
                siblings.sort_by_key(|position| nodes.get(*position).map(|node| node.rank.clone()));
            }
            OrderBy::Bounds(..) => {
                siblings.sort_by_key(|position| nodes.get(*position).map(|node| node.left));
            }
            OrderBy::Children(_) => {
                if let Some(listed) = listed.filter(|listed| !listed.is_empty()) {
                    sort_as_listed(nodes, listed, siblings)?;
                }
            }
            OrderBy::None => {}
        }
        Ok(())
    }
}

fn sort_as_listed(nodes: &[Node], listed: &[Bson], siblings: &mut [usize]) -> Result<()> {
    let mut places = HashMap::new();
    for (place, id) in listed.iter().enumerate() {
        places.entry(id_key(id)?).or_insert(place);
    }
    let mut keyed = Vec::with_capacity(siblings.len());
    for position in siblings.iter() {
        let id = nodes
            .get(*position)
            .map(|node| id_key(&node.id))
            .transpose()?;
        keyed.push((id.and_then(|id| places.get(&id).copied()), *position));
    }
    keyed.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
    for (slot, (_, position)) in siblings.iter_mut().zip(keyed) {
        *slot = position;
    }
    Ok(())
}

/// A node in pre-order.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct Visit {
    pub(in crate::tree) position: usize,
    /// How many nodes are above it.
    pub(in crate::tree) level: usize,
    pub(in crate::tree) parent: Option<usize>,
}

impl Shape {
    /// A shape of this many roots.
    pub(in crate::tree) fn roots(count: usize) -> Self {
        Self::of_parents(&vec![None; count])
    }

    /// The shape in which nodes have these parents, by their positions.
    pub(in crate::tree) fn of_parents(parents: &[Option<usize>]) -> Self {
        let mut shape = Self {
            roots: Vec::new(),
            children: vec![Vec::new(); parents.len()],
        };
        for (position, parent) in parents.iter().enumerate() {
            match parent.and_then(|parent| shape.children.get_mut(parent)) {
                Some(siblings) => siblings.push(position),
                None => shape.roots.push(position),
            }
        }
        shape
    }

    /// The nodes in pre-order, each before its children. The first node of a cycle counts as a root.
    pub(in crate::tree) fn visits(&self) -> Vec<Visit> {
        let mut visits = Vec::with_capacity(self.children.len());
        let mut seen = vec![false; self.children.len()];
        let mut stack: Vec<Visit> = Vec::new();
        let starts = self.roots.iter().copied().chain(0..self.children.len());
        for position in starts {
            stack.push(Visit {
                position,
                level: 0,
                parent: None,
            });
            while let Some(visit) = stack.pop() {
                match seen.get_mut(visit.position) {
                    Some(seen) if !*seen => *seen = true,
                    _ => continue,
                }
                visits.push(visit);
                let children = self.children.get(visit.position).into_iter().flatten();
                stack.extend(children.rev().map(|child| Visit {
                    position: *child,
                    level: visit.level + 1,
                    parent: Some(visit.position),
                }));
            }
        }
        visits
    }

    /// The numbers of children and of descendants of each node.
    pub(in crate::tree) fn counts(&self, visits: &[Visit]) -> Vec<(i64, i64)> {
        let mut counts = vec![(0_i64, 0_i64); self.children.len()];
        for visit in visits.iter().rev() {
            let below = counts.get(visit.position).map_or(0, |(_, below)| *below) + 1;
            let parent = visit.parent.and_then(|parent| counts.get_mut(parent));
            if let Some((children, descendants)) = parent {
                *children += 1;
                *descendants += below;
            }
        }
        counts
    }

    /// The positions in pre-order, with their levels.
    pub(in crate::tree) fn pre_order(&self) -> Vec<(usize, usize)> {
        let visits = self.visits().into_iter();
        visits.map(|visit| (visit.position, visit.level)).collect()
    }
}

/// The position of each node's parent, by the bounds that enclose its own.
fn parents_by_bounds(nodes: &[Node], parents: &mut [Option<usize>]) {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    let left = |position: &usize| nodes.get(*position).map(|node| node.left);
    order.sort_by_key(left);
    // Trees of several scopes have the same bounds, so each scope has a stack of its own.
    let mut open: HashMap<Option<Vec<u8>>, Vec<usize>> = HashMap::new();
    for position in order {
        let Some(node) = nodes.get(position) else {
            continue;
        };
        let stack = open.entry(scope_key(node.scope.as_ref())).or_default();
        let ended = |top: &usize| nodes.get(*top).is_some_and(|top| top.right < node.left);
        while stack.last().is_some_and(ended) {
            stack.pop();
        }
        if let Some(parent) = parents.get_mut(position) {
            *parent = stack.last().copied();
        }
        stack.push(position);
    }
}
