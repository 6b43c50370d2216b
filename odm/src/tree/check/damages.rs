//! The damages of a tree: where the fields of a node are not those of its place.
//!
//! A node is blamed for what is wrong with its own fields. Where its fields agree with those of its parent, the damage is
//! above it.

use std::collections::HashMap;

use bson::Bson;

use super::survey::{Misplaced, Survey, WrongBounds, by_scope, is_rank};
use super::{DamageKind, TreeReport};
use crate::error::Result;
use crate::plan::shell;
use crate::tree::node::{Node, agree, agrees, child_path, path_ids};
use crate::tree::places::{ParentBy, Visit};
use crate::tree::tree_store::TreeStore;

/// Compares the nodes of a tree with the tree that they describe.
pub(super) struct Damages<'f> {
    tree_store: &'f TreeStore<'f>,
    nodes: &'f [Node],
    survey: &'f Survey,
    report: &'f mut TreeReport,
    visits: Vec<Visit>,
    /// The numbers of children and of descendants.
    counts: Vec<(i64, i64)>,
}

impl<'f> Damages<'f> {
    pub(super) fn report(
        tree_store: &'f TreeStore<'f>,
        nodes: &'f [Node],
        survey: &'f Survey,
        report: &'f mut TreeReport,
    ) -> Result<()> {
        let visits = survey.shape.visits();
        let counts = survey.shape.counts(&visits);
        let mut damages = Self {
            tree_store,
            nodes,
            survey,
            report,
            visits,
            counts,
        };
        damages.each()?;
        damages.lists()?;
        damages.bounds();
        damages.ranks()
    }

    fn add(&mut self, position: usize, kind: DamageKind, detail: String) {
        if let Some(node) = self.nodes.get(position) {
            self.report.add(&node.id, kind, detail);
        }
    }

    /// Compares each node with the nodes above it.
    fn each(&mut self) -> Result<()> {
        let mut lineage: Vec<Bson> = Vec::new();
        // By level: the path of the nodes below.
        let mut paths: Vec<String> = Vec::new();
        for visit in std::mem::take(&mut self.visits) {
            let Some(node) = self.nodes.get(visit.position) else {
                continue;
            };
            lineage.truncate(visit.level);
            paths.truncate(visit.level);
            self.unread(visit.position, node);
            self.place(visit.position);
            if self.survey.fault(visit.position) != Some(&Misplaced::Circle) {
                let parent = visit.parent.and_then(|parent| self.nodes.get(parent));
                self.parent(visit.position, node, parent);
                self.ancestors(visit.position, node, parent, &lineage);
                let path = paths.last().map(String::as_str);
                self.path(visit.position, node, parent, path)?;
                self.depth(&visit, node, parent);
                self.counts(visit.position, node);
            }
            if self.tree_store.tree.path.is_some() {
                let before = paths.last().map(String::as_str);
                paths.push(child_path(before, &node.id)?);
            }
            lineage.push(node.id.clone());
        }
        Ok(())
    }

    fn unread(&mut self, position: usize, node: &Node) {
        for field in &node.unread.missing {
            let detail = format!("`{field}` is missing");
            self.add(position, DamageKind::MissingField, detail);
        }
        for field in &node.unread.mistyped {
            let detail = format!("`{field}` has a value of another type");
            self.add(position, DamageKind::WrongType, detail);
        }
    }

    fn place(&mut self, position: usize) {
        let (kind, detail) = match self.survey.fault(position) {
            Some(Misplaced::Orphan(id)) => {
                let kind = match self.tree_store.ways.parent {
                    ParentBy::Parent(_) => DamageKind::Orphan,
                    _ => DamageKind::MissingAncestor,
                };
                (kind, format!("there is no node {}", shell::value(id)))
            }
            Some(Misplaced::Circle) => {
                (DamageKind::Cycle, "its parents lead back to it".to_owned())
            }
            Some(Misplaced::OtherScope(id)) => (
                DamageKind::MixedScopes,
                format!("its parent {} is in another tree", shell::value(id)),
            ),
            Some(Misplaced::Unknown) | None => return,
        };
        self.add(position, kind, detail);
    }

    /// Compares the type of the id of the parent, which names a node anyway.
    fn parent(&mut self, position: usize, node: &Node, parent: Option<&Node>) {
        let (Some((field, _)), Some(parent)) = (self.tree_store.tree.parent, parent) else {
            return;
        };
        let is_own = |id: &Bson| agrees(id, &parent.id);
        if node.parent.as_ref().is_some_and(|id| !is_own(id)) {
            let detail = format!("`{field}` has a value of another type than the id of the parent");
            self.add(position, DamageKind::WrongType, detail);
        }
    }

    fn ancestors(&mut self, position: usize, node: &Node, parent: Option<&Node>, lineage: &[Bson]) {
        let Some(field) = self.tree_store.tree.ancestors else {
            return;
        };
        if node.unread.contains(field) || agree(&node.ancestors, lineage) {
            return;
        }
        let follows = |parent: &Node| match node.ancestors.split_last() {
            Some((last, above)) => {
                agrees(last, &parent.id)
                    && agree(above, &parent.ancestors)
                    && !parent.unread.contains(field)
            }
            None => false,
        };
        let is_displaced = parent.is_none() && self.survey.fault(position).is_some();
        if parent.is_some_and(follows) || is_displaced {
            return;
        }
        let ends = |one: Option<&Bson>, other: Option<&Bson>| match (one, other) {
            (Some(one), Some(other)) => agrees(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let kind = if ends(node.ancestors.last(), lineage.last()) {
            DamageKind::WrongAncestors
        } else {
            DamageKind::Disagreement
        };
        let detail = format!(
            "the ancestors are {}, expected {}",
            shell::value(&node.ancestors.clone().into()),
            shell::value(&lineage.to_vec().into())
        );
        self.add(position, kind, detail);
    }

    fn path(
        &mut self,
        position: usize,
        node: &Node,
        parent: Option<&Node>,
        expected: Option<&str>,
    ) -> Result<()> {
        let tree = self.tree_store.tree;
        let Some((field, _)) = tree.path else {
            return Ok(());
        };
        let stored = node.path.as_deref();
        if node.unread.contains(field) || stored == expected {
            return Ok(());
        }
        let ids = stored.map_or_else(|| Some(Vec::new()), |path| path_ids(tree, path));
        let shown = |path: Option<&str>| path.map_or("null".to_owned(), |path| format!("{path:?}"));
        let detail = format!(
            "the path is {}, expected {}",
            shown(stored),
            shown(expected)
        );
        let Some(ids) = ids else {
            self.add(position, DamageKind::MalformedPath, detail);
            return Ok(());
        };
        let follows = match parent {
            Some(parent) if !parent.unread.contains(field) => {
                stored == Some(parent.path_of_children()?.as_str())
            }
            Some(_) => false,
            None => self.survey.fault(position).is_some(),
        };
        if follows {
            return Ok(());
        }
        let is_below = match (ids.last(), parent) {
            (Some(last), Some(parent)) => agrees(last, &parent.id),
            (last, parent) => last.is_none() && parent.is_none(),
        };
        let kind = if is_below {
            DamageKind::WrongPath
        } else {
            DamageKind::Disagreement
        };
        self.add(position, kind, detail);
        Ok(())
    }

    fn depth(&mut self, visit: &Visit, node: &Node, parent: Option<&Node>) {
        let Some(field) = self.tree_store.tree.depth else {
            return;
        };
        let level = i64::try_from(visit.level).unwrap_or(i64::MAX);
        if node.unread.contains(field) || node.depth == level {
            return;
        }
        let follows = match parent {
            Some(parent) => !parent.unread.contains(field) && node.depth == parent.depth + 1,
            None => self.survey.fault(visit.position).is_some(),
        };
        if !follows {
            let detail = format!("the depth is {}, expected {level}", node.depth);
            self.add(visit.position, DamageKind::WrongDepth, detail);
        }
    }

    fn counts(&mut self, position: usize, node: &Node) {
        let tree = self.tree_store.tree;
        let (children, descendants) = self.counts.get(position).copied().unwrap_or_default();
        for (field, stored, expected, what) in [
            (tree.child_count, node.child_count, children, "children"),
            (
                tree.descendant_count,
                node.descendant_count,
                descendants,
                "descendants",
            ),
        ] {
            if let Some(field) = field
                && stored != expected
                && !node.unread.contains(field)
            {
                let detail = format!("the number of {what} is {stored}, expected {expected}");
                self.add(position, DamageKind::WrongCount, detail);
            }
        }
    }

    /// Compares the lists of children with the children.
    fn lists(&mut self) -> Result<()> {
        let tree = self.tree_store.tree;
        let Some(field) = tree.children else {
            return Ok(());
        };
        // How often each node is in the list of its parent, and which other node lists it.
        let mut listed = vec![0_u32; self.nodes.len()];
        let mut elsewhere: HashMap<usize, Vec<usize>> = HashMap::new();
        for (owner, node) in self.nodes.iter().enumerate() {
            let mut last_place = None;
            let mut is_sorted = true;
            let order = self.survey.shape.children.get(owner);
            let mut places: HashMap<usize, usize> = HashMap::new();
            for (place, child) in order.into_iter().flatten().enumerate() {
                places.insert(*child, place);
            }
            for id in &node.children {
                let Some(child) = self.survey.position(id)? else {
                    let detail = format!("its child {} does not exist", shell::value(id));
                    self.add(owner, DamageKind::MissingChild, detail);
                    continue;
                };
                if self.survey.parent(child) == Some(owner) {
                    let place = places.get(&child).copied();
                    is_sorted &= last_place <= place;
                    last_place = place;
                    if let Some(times) = listed.get_mut(child) {
                        *times += 1;
                    }
                } else {
                    elsewhere.entry(child).or_default().push(owner);
                }
            }
            if !is_sorted {
                let detail = "its children are listed in another order than theirs".to_owned();
                self.add(owner, DamageKind::WrongChildren, detail);
            }
        }
        for child in 0..self.nodes.len() {
            let times = listed.get(child).copied().unwrap_or_default();
            let others = elsewhere.remove(&child).unwrap_or_default();
            self.listed(child, times, &others, field);
        }
        Ok(())
    }

    /// Says who is to blame for the lists that a node is in.
    fn listed(&mut self, child: usize, times: u32, others: &[usize], field: &str) {
        let id = |position: usize| self.nodes.get(position).map(|node| shell::value(&node.id));
        let own = id(child).unwrap_or_default();
        let parent = self.survey.parent(child);
        let is_unread = |parent: usize| {
            let parent = self.nodes.get(parent);
            parent.is_some_and(|parent| parent.unread.contains(field))
        };
        if let (Some(parent), 2..) = (parent, times) {
            let detail = format!("it lists its child {own} {times} times");
            self.add(parent, DamageKind::WrongChildren, detail);
        }
        if self.survey.fault(child).is_some() {
            return;
        }
        match (parent, others) {
            (Some(parent), []) if times == 0 && !is_unread(parent) => {
                let detail = format!("it does not list its child {own}");
                self.add(parent, DamageKind::WrongChildren, detail);
            }
            (_, []) => {}
            (Some(_), [other, ..]) if times > 0 => {
                let lister = id(*other).unwrap_or_default();
                if let ParentBy::Children(_) = self.tree_store.ways.parent {
                    let detail = format!("{lister} lists it, too");
                    self.add(child, DamageKind::SeveralParents, detail);
                } else {
                    for other in others {
                        let detail = format!("it lists {own}, which has another parent");
                        self.add(*other, DamageKind::WrongChildren, detail);
                    }
                }
            }
            (parent, [other, ..]) => {
                let lister = id(*other).unwrap_or_default();
                let parent = parent.and_then(id);
                let parent = parent.map_or("it is a root".to_owned(), |id| {
                    format!("its parent is {id}")
                });
                let detail = format!("{lister} lists it as a child, and {parent}");
                self.add(child, DamageKind::Disagreement, detail);
            }
        }
    }

    fn bounds(&mut self) {
        let Some((left, right)) = self.tree_store.tree.bounds else {
            return;
        };
        for (position, detail) in &self.survey.bounds.gaps {
            self.add(*position, DamageKind::GappedBounds, detail.clone());
        }
        for (position, node) in self.nodes.iter().enumerate() {
            let Some(bound) = self.survey.bounds.nodes.get(position) else {
                continue;
            };
            if node.unread.contains(left) || node.unread.contains(right) {
                continue;
            }
            if let Some(fault) = bound.fault {
                let kind = match fault {
                    WrongBounds::Overlapping => DamageKind::OverlappingBounds,
                    WrongBounds::Gapped => DamageKind::GappedBounds,
                    WrongBounds::Duplicate => DamageKind::DuplicateBounds,
                };
                let detail = format!("the bounds are {} and {}", node.left, node.right);
                self.add(position, kind, detail);
            } else if bound.parent != self.survey.parent(position)
                && self.survey.fault(position).is_none()
            {
                let shown = |parent: Option<usize>| {
                    let parent = parent.and_then(|parent| self.nodes.get(parent));
                    parent.map_or("a root".to_owned(), |parent| shell::value(&parent.id))
                };
                let detail = format!(
                    "the parent is {}, and the bounds are inside {}",
                    shown(self.survey.parent(position)),
                    shown(bound.parent)
                );
                self.add(position, DamageKind::Disagreement, detail);
            }
        }
    }

    fn ranks(&mut self) -> Result<()> {
        let Some(field) = self.tree_store.tree.order else {
            return Ok(());
        };
        let roots = &self.survey.shape.roots;
        let families = self.survey.shape.children.iter().chain([roots]);
        for siblings in families.flat_map(|family| by_scope(self.nodes, family)) {
            for (position, _) in self.tree_store.missing_ranks(self.nodes, &siblings)? {
                let Some(node) = self.nodes.get(position) else {
                    continue;
                };
                if node.unread.contains(field) || self.survey.fault(position).is_some() {
                    continue;
                }
                let rank = node.rank.as_deref().unwrap_or_default();
                let (kind, detail) = if is_rank(rank) {
                    let detail = format!("a sibling has the rank {rank:?}, too");
                    (DamageKind::DuplicateRank, detail)
                } else {
                    (DamageKind::InvalidRank, format!("{rank:?} is not a rank"))
                };
                self.add(position, kind, detail);
            }
            self.order_of_bounds(&siblings);
        }
        Ok(())
    }

    /// Blames the fewest siblings whose ranks and bounds are in different orders.
    fn order_of_bounds(&mut self, siblings: &[usize]) {
        let left = |position: usize| {
            let bound = self.survey.bounds.nodes.get(position);
            let bound = bound.filter(|bound| bound.parent == self.survey.parent(position));
            bound.map(|bound| bound.left)
        };
        let lefts: Vec<(usize, i64)> = siblings
            .iter()
            .filter_map(|position| Some((*position, left(*position)?)))
            .collect();
        for position in out_of_order(&lefts) {
            let detail = "its rank and its bounds put it in different places".to_owned();
            self.add(position, DamageKind::Disagreement, detail);
        }
    }
}

/// The positions outside a longest part of the list whose numbers rise.
fn out_of_order(list: &[(usize, i64)]) -> Vec<usize> {
    // By length less one: the place of the smallest number that ends a rising part of this length.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(list.len());
    let number = |place: usize| list.get(place).map(|(_, number)| *number);
    for (place, (_, own)) in list.iter().enumerate() {
        let length = ends.partition_point(|end| number(*end) < Some(*own));
        before.push(
            length
                .checked_sub(1)
                .and_then(|last| ends.get(last).copied()),
        );
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut kept = vec![false; list.len()];
    let mut next = ends.last().copied();
    while let Some(place) = next {
        if let Some(kept) = kept.get_mut(place) {
            *kept = true;
        }
        next = before.get(place).copied().flatten();
    }
    let outside = list.iter().zip(kept).filter(|(_, kept)| !kept);
    outside.map(|((position, _), _)| *position).collect()
}

#[cfg(test)]
mod tests {
    use super::out_of_order;

    #[test]
    fn the_fewest_are_out_of_order() {
        let list = |numbers: &[i64]| numbers.iter().copied().enumerate().collect::<Vec<_>>();
        assert!(out_of_order(&list(&[])).is_empty());
        assert!(out_of_order(&list(&[1, 3, 5])).is_empty());
        assert_eq!(out_of_order(&list(&[1, 9, 3, 5])), [1]);
        assert_eq!(out_of_order(&list(&[3, 5, 7, 1])), [3]);
    }
}
