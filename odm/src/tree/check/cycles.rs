//! Circles in graphs.

/// The children of each node, by their positions.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// Parent and child.
    pairs: Vec<(usize, usize)>,
}

impl Edges {
    pub(super) fn add(&mut self, parent: usize, child: usize) {
        self.pairs.push((parent, child));
    }

    /// The nodes on cycles, or between two of them.
    ///
    /// Nodes without a parent are taken away, again and again; then nodes without a child. What is left has both.
    pub(super) fn cycles(mut self) -> Vec<usize> {
        for _ in 0..2 {
            self.take_ends();
            for (parent, child) in &mut self.pairs {
                std::mem::swap(parent, child);
            }
        }
        let mut left: Vec<usize> = self.pairs.into_iter().map(|(parent, _)| parent).collect();
        left.sort_unstable();
        left.dedup();
        left
    }

    /// Removes the pairs whose parents lead to no cycle upwards.
    fn take_ends(&mut self) {
        self.pairs.sort_unstable();
        // Nodes that are nobody's child are ends, so only the others have a place.
        let mut nodes: Vec<usize> = self.pairs.iter().map(|(_, child)| *child).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: &usize| nodes.binary_search(node).ok();
        let mut parents = vec![0_u32; nodes.len()];
        let mut ends = Vec::new();
        for (_, child) in &self.pairs {
            if let Some(count) = place(child).and_then(|place| parents.get_mut(place)) {
                *count += 1;
            }
        }
        let mut lose_parent = |child: &usize, ends: &mut Vec<usize>| {
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
        let is_left = |node: &usize| {
            let count = place(node).and_then(|place| parents.get(place));
            count.is_some_and(|count| *count > 0)
        };
        self.pairs.retain(|(parent, _)| is_left(parent));
    }
}

#[cfg(test)]
mod tests {
    use super::Edges;

    #[test]
    fn circles_are_found_and_what_leads_to_them_is_not() {
        let cycles = |pairs: &[(usize, usize)]| {
            Edges {
                pairs: pairs.to_vec(),
            }
            .cycles()
        };
        assert!(cycles(&[]).is_empty());
        assert!(cycles(&[(1, 2), (2, 3), (1, 4)]).is_empty());
        assert_eq!(cycles(&[(1, 2), (2, 3), (3, 1), (3, 4), (4, 5)]), [1, 2, 3]);
        assert_eq!(cycles(&[(7, 7), (8, 9)]), [7]);
        // A node with two parents is not a cycle.
        assert!(cycles(&[(1, 2), (1, 3), (2, 4), (3, 4)]).is_empty());
    }
}
