//! Circles of parents.

use std::hash::{BuildHasher, Hasher};

use bson::{Bson, Document};
use foldhash::quality::FixedState;

use super::{Checker, DamageKind, Source};
use crate::error::Result;
use crate::tree::node::{Node, id_key};

/// Which node is a child of which, by hashes of their ids.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// Parent and child.
    pairs: Vec<(u128, u128)>,
}

impl Edges {
    pub(super) fn add(&mut self, parent: &Bson, child: &Bson) -> Result<()> {
        self.pairs.push((hash(parent)?, hash(child)?));
        Ok(())
    }

    /// The nodes on circles, or between two of them.
    ///
    /// Nodes without a parent are taken away, again and again; then nodes without a child. What is left has both.
    fn circles(mut self) -> Vec<u128> {
        for _ in 0..2 {
            self.take_ends();
            for (parent, child) in &mut self.pairs {
                std::mem::swap(parent, child);
            }
        }
        let mut left: Vec<u128> = self.pairs.into_iter().map(|(parent, _)| parent).collect();
        left.sort_unstable();
        left.dedup();
        left
    }

    /// Removes the pairs whose parents lead to no circle upwards.
    fn take_ends(&mut self) {
        self.pairs.sort_unstable();
        // Nodes that are nobody's child are ends, so only the others have a place.
        let mut nodes: Vec<u128> = self.pairs.iter().map(|(_, child)| *child).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: &u128| nodes.binary_search(node).ok();
        let mut parents = vec![0_u32; nodes.len()];
        let mut ends = Vec::new();
        for (_, child) in &self.pairs {
            if let Some(count) = place(child).and_then(|place| parents.get_mut(place)) {
                *count += 1;
            }
        }
        let mut lose_parent = |child: &u128, ends: &mut Vec<u128>| {
            if let Some(count) = place(child).and_then(|place| parents.get_mut(place)) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ends.push(*child);
                }
            }
        };
        for (parent, child) in &self.pairs {
            if place(parent).is_none() {
                lose_parent(child, &mut ends);
            }
        }
        while let Some(end) = ends.pop() {
            let from = self.pairs.partition_point(|(parent, _)| *parent < end);
            let below = self.pairs.get(from..).unwrap_or_default();
            for (_, child) in below.iter().take_while(|(parent, _)| *parent == end) {
                lose_parent(child, &mut ends);
            }
        }
        let is_left = |node: &u128| {
            let count = place(node).and_then(|place| parents.get(place));
            count.is_some_and(|count| *count > 0)
        };
        self.pairs.retain(|(parent, _)| is_left(parent));
    }
}

fn hash(id: &Bson) -> Result<u128> {
    let key = id_key(id)?;
    let half = |seed| {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        hasher.write(&key);
        u128::from(hasher.finish())
    };
    Ok(half(1) << 64 | half(2))
}

impl Checker<'_> {
    /// Whether circles have to be looked for: no node can be among its own ancestors in a sound array or path, or between
    /// its own bounds.
    pub(super) fn needs_edges(&self) -> bool {
        let tree = self.forest.tree;
        match self.source {
            Source::Parent => {
                tree.ancestors.is_none() && tree.path.is_none() && tree.bounds.is_none()
            }
            Source::Children => true,
            Source::Ancestors | Source::Path | Source::Bounds => false,
        }
    }

    /// Reports the nodes on circles.
    pub(super) async fn cycles(&mut self) -> Result<()> {
        let circles = std::mem::take(&mut self.edges).circles();
        if circles.is_empty() {
            return Ok(());
        }
        let mut cursor = self.forest.open(Document::new(), None).await?;
        while let Some(document) = cursor.next().await {
            let document = document.map_err(|error| error.with_model(self.forest.model.name))?;
            let node = Node::read(self.forest.tree, document)?;
            if circles.binary_search(&hash(&node.id)?).is_ok() {
                let detail = "its parents lead back to it".to_owned();
                self.report.add(&node.id, DamageKind::Cycle, detail);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Edges;

    #[test]
    fn circles_are_found_and_what_leads_to_them_is_not() {
        let circles = |pairs: &[(u128, u128)]| {
            Edges {
                pairs: pairs.to_vec(),
            }
            .circles()
        };
        assert!(circles(&[]).is_empty());
        assert!(circles(&[(1, 2), (2, 3), (1, 4)]).is_empty());
        assert_eq!(
            circles(&[(1, 2), (2, 3), (3, 1), (3, 4), (4, 5)]),
            [1, 2, 3]
        );
        assert_eq!(circles(&[(7, 7), (8, 9)]), [7]);
        // A node with two parents is no circle.
        assert!(circles(&[(1, 2), (1, 3), (2, 4), (3, 4)]).is_empty());
    }
}
