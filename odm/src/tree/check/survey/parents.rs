//! The parent of each node.

use std::collections::HashMap;

use bson::Bson;

use super::{Misplaced, Survey};
use crate::error::Result;
use crate::tree::node::{Node, id_key, path_ids, same_scope};
use crate::tree::tree_store::TreeStore;

/// The parent of a node according to one field.
enum Claim {
    Root,
    /// An id, of a node that may not exist.
    Named(Bson),
    At(usize),
}

/// The lists of children that name a node, by their positions.
type Listers = HashMap<usize, Vec<usize>>;

impl TreeStore<'_> {
    /// The position of each node's parent. Circles are cut where the other fields say that one of its nodes begins.
    pub(super) fn parents_of(
        &self,
        nodes: &[Node],
        survey: &mut Survey,
    ) -> Result<Vec<Option<usize>>> {
        let listers = self.listers(nodes, survey)?;
        let mut above: Option<HashMap<Vec<u8>, Claim>> = None;
        let mut parents = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let mut claim = self.own_claim(node);
            if claim.is_none() && (self.tree.ancestors.is_some() || self.tree.path.is_some()) {
                let above = above.get_or_insert_with(|| self.claims_of_descendants(nodes));
                claim = above.remove(&id_key(&node.id)?);
            }
            let claim = claim.or_else(|| self.claim_of_others(survey, &listers, position));
            let parent = match claim {
                Some(Claim::Root) => Ok(None),
                Some(Claim::At(parent)) => Ok(Some(parent)),
                Some(Claim::Named(id)) => match survey.position(&id)? {
                    Some(parent) => Ok(Some(parent)),
                    None => Err(Misplaced::Orphan(id)),
                },
                None => Err(Misplaced::Unknown),
            };
            let parent = parent.and_then(|parent| {
                let other = parent.and_then(|parent| nodes.get(parent));
                let is_other =
                    |parent: &&Node| !same_scope(parent.scope.as_ref(), node.scope.as_ref());
                match other.filter(is_other) {
                    Some(parent) => Err(Misplaced::OtherScope(parent.id.clone())),
                    None => Ok(parent),
                }
            });
            let parent = parent.unwrap_or_else(|fault| {
                if let Some(slot) = survey.faults.get_mut(position) {
                    *slot = Some(fault);
                }
                None
            });
            parents.push(parent);
        }
        cut_circles(nodes, survey, &mut parents);
        Ok(parents)
    }

    fn listers(&self, nodes: &[Node], survey: &Survey) -> Result<Listers> {
        let mut listers = Listers::new();
        if self.tree.children.is_none() {
            return Ok(listers);
        }
        for (lister, node) in nodes.iter().enumerate() {
            for child in &node.children {
                if let Some(child) = survey.position(child)? {
                    let all = listers.entry(child).or_default();
                    if all.last() != Some(&lister) {
                        all.push(lister);
                    }
                }
            }
        }
        // A list whose length is the number that is kept beside it is more likely the right one.
        if let Some(count) = self.tree.child_count {
            let is_off = |lister: &usize| {
                let node = nodes.get(*lister);
                node.is_none_or(|node| {
                    node.unread.contains(count)
                        || usize::try_from(node.child_count) != Ok(node.children.len())
                })
            };
            for all in listers.values_mut() {
                all.sort_by_key(is_off);
            }
        }
        Ok(listers)
    }

    /// What the first of the node's own fields says that names a parent.
    fn own_claim(&self, node: &Node) -> Option<Claim> {
        let tree = self.tree;
        let named = |id: Option<Bson>| id.map_or(Claim::Root, Claim::Named);
        if let Some((field, _)) = tree.parent
            && !(node.unread.contains(field) && node.parent.is_none())
        {
            return Some(named(node.parent.clone()));
        }
        if let Some(field) = tree.ancestors
            && !node.unread.contains(field)
        {
            return Some(named(node.ancestors.last().cloned()));
        }
        if let Some((field, _)) = tree.path
            && !node.unread.contains(field)
        {
            return match &node.path {
                None => Some(Claim::Root),
                Some(path) => path_ids(tree, path).map(|mut ids| named(ids.pop())),
            };
        }
        None
    }

    /// What the ancestors and the paths of the nodes below say about the nodes above.
    fn claims_of_descendants(&self, nodes: &[Node]) -> HashMap<Vec<u8>, Claim> {
        let mut claims = HashMap::new();
        for node in nodes {
            let from_path = || path_ids(self.tree, node.path.as_deref()?);
            let lineage = if node.ancestors.is_empty() {
                from_path().unwrap_or_default()
            } else {
                node.ancestors.clone()
            };
            let mut above: Option<&Bson> = None;
            for id in &lineage {
                if let Ok(key) = id_key(id) {
                    let claim = above.map_or(Claim::Root, |above| Claim::Named(above.clone()));
                    claims.entry(key).or_insert(claim);
                }
                above = Some(id);
            }
        }
        claims
    }

    /// What the bounds, or the lists of children, say.
    fn claim_of_others(
        &self,
        survey: &Survey,
        listers: &Listers,
        position: usize,
    ) -> Option<Claim> {
        if let Some(bound) = survey.bounds.nodes.get(position) {
            return Some(bound.parent.map_or(Claim::Root, Claim::At));
        }
        self.tree.children?;
        let listers = listers.get(&position);
        let first = listers.and_then(|all| all.first());
        Some(first.map_or(Claim::Root, |lister| Claim::At(*lister)))
    }
}

fn cut_circles(nodes: &[Node], survey: &mut Survey, parents: &mut [Option<usize>]) {
    // By position: the walk that reached the node first.
    let mut walks = vec![0_usize; parents.len()];
    for start in 0..parents.len() {
        let walk = start + 1;
        let mut next = Some(start);
        while let Some(position) = next {
            match walks.get_mut(position) {
                Some(seen) if *seen == 0 => *seen = walk,
                Some(seen) if *seen == walk => {
                    cut_circle(nodes, survey, parents, position);
                    break;
                }
                _ => break,
            }
            next = parents.get(position).copied().flatten();
        }
    }
}

fn cut_circle(nodes: &[Node], survey: &mut Survey, parents: &mut [Option<usize>], start: usize) {
    let mut cycle = vec![start];
    let mut next = parents.get(start).copied().flatten();
    while let Some(position) = next.filter(|position| *position != start) {
        cycle.push(position);
        next = parents.get(position).copied().flatten();
    }
    for position in &cycle {
        if let Some(fault) = survey.faults.get_mut(*position) {
            *fault = Some(Misplaced::Circle);
        }
    }
    // The node that the other fields put highest.
    let height = |position: &usize| {
        let node = nodes.get(*position);
        let levels = |node: &Node| (node.depth, node.ancestors.len(), node.path.clone());
        let is_inside = survey
            .bounds
            .nodes
            .get(*position)
            .is_some_and(|bound| bound.parent.is_some_and(|parent| cycle.contains(&parent)));
        (is_inside, node.map(levels), *position)
    };
    let top = cycle.iter().min_by_key(|position| height(position));
    if let Some(parent) = top.and_then(|top| parents.get_mut(*top)) {
        *parent = None;
    }
}
