//! Swaps of two nodes: each gets the place of the other, with its subtree.

use bson::{Bson, Document};

use crate::error::{Result, TreeRefusal};
use crate::tree::journal::{EnclosingNodes, Listed, Shift, Unfinished, Writes};
use crate::tree::node::{Node, id_key, same_scope};
use crate::tree::tree_store::{TreeStore, TreeWrite};

/// A node to swap, and where it is.
struct Side {
    node: Node,
    /// The ancestors, the root first.
    lineage: Vec<Bson>,
    /// The parent, where it lists its children.
    lister: Option<Node>,
}

impl Side {
    fn parent(&self) -> Option<&Bson> {
        self.lineage.last()
    }
}

impl TreeStore<'_> {
    /// Swaps two nodes, each with its subtree.
    pub(in crate::tree) async fn swap_nodes(
        &mut self,
        one: &Bson,
        other: &Bson,
    ) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        let fence = self.fence_of(one).await?;
        let (first, second) = self.pair(one, other).await?;
        if id_key(one)? == id_key(other)? {
            return Ok(done);
        }
        if !same_scope(first.scope.as_ref(), second.scope.as_ref()) {
            return Err(self.refused(
                TreeRefusal::OtherTree,
                format!("the nodes {one} and {other} are in different trees: their scopes differ"),
            ));
        }
        let one = self.side(first).await?;
        let other = self.side(second).await?;
        for (side, inside) in [(&one, &other), (&other, &one)] {
            for ancestor in &side.lineage {
                if id_key(ancestor)? == id_key(&inside.node.id)? {
                    return Err(self.refused(
                        TreeRefusal::OwnSubtree,
                        format!(
                            "the node {} can't swap with its ancestor {}",
                            side.node.id, inside.node.id
                        ),
                    ));
                }
            }
        }
        let are_siblings = match (one.parent(), other.parent()) {
            (None, None) => true,
            (Some(one), Some(other)) => id_key(one)? == id_key(other)?,
            _ => false,
        };
        let mut writes = Writes::new(self.tree, fence, Unfinished::new("swap", &one.node.id));
        let mut lineages = Vec::new();
        let mut places = Vec::new();
        for (side, place) in [(&one, &other), (&other, &one)] {
            if !are_siblings && self.tree.max_depth.is_some() {
                let depth = side.lineage.len();
                let height = self.height(&side.node, depth).await?;
                self.check_level(place.lineage.len() + height)?;
            }
            if !are_siblings && self.keeps_lineage() {
                let change = self
                    .lineage_change(&side.node, &side.lineage, &place.lineage)
                    .await?;
                lineages.push(change);
            }
            let mut fields = Document::new();
            if !are_siblings {
                fields = self.fields_below(&place.lineage)?;
            }
            if let Some(order) = self.tree.order {
                let rank = place.node.rank.as_ref().ok_or_else(|| {
                    let message = format!(
                        "the node {} has no rank: `check` lists such nodes, `repair` ranks them",
                        place.node.id
                    );
                    self.refused(TreeRefusal::Damaged, message)
                })?;
                fields.insert(order, rank);
            }
            places.push((&side.node, fields));
        }
        if !are_siblings && let Some((node, fields)) = places.first() {
            let via = self.detour(node, &other.node, fields).await?;
            if let Some(via) = via {
                writes.detour(&node.id, via);
                places.reverse();
            }
        }
        for (node, fields) in places {
            writes.place(&node.id, fields);
        }
        writes.first.extend(lineages);
        let enclosing = [one.lineage.as_slice(), &other.lineage].concat();
        writes.moves(
            shifts(&one.node, &other.node),
            EnclosingNodes::Ids(enclosing),
        );
        let listers: Vec<Bson> = [&one, &other]
            .iter()
            .filter_map(|side| side.lister.as_ref().map(|lister| lister.id.clone()))
            .collect();
        writes
            .then
            .extend(self.exchange_children(&listers, &one.node.id, &other.node.id));
        writes.record.lists = exchanged(&one, &other);
        if !are_siblings {
            let by = other.node.descendant_count - one.node.descendant_count;
            let then = &mut writes.then;
            then.extend(self.count_descendants(&one.lineage, by));
            then.extend(self.count_descendants(&other.lineage, -by));
        }
        self.run_writes(vec![writes], &mut done).await?;
        Ok(done)
    }

    async fn side(&mut self, node: Node) -> Result<Side> {
        let lineage = self.lineage(&node).await?;
        let mut lister = None;
        if let (Some(_), Some(parent)) = (self.tree.children, lineage.last()) {
            lister = Some(self.node(parent).await?);
        }
        Ok(Side {
            node,
            lineage,
            lister,
        })
    }
}

/// How the bounds of two subtrees move, and those of what lies between them.
fn shifts(one: &Node, other: &Node) -> Vec<Shift> {
    let (low, high) = if one.left < other.left {
        (one, other)
    } else {
        (other, one)
    };
    let mut shifts = vec![
        Shift {
            from: low.left,
            to: low.right,
            by: high.right - low.right,
        },
        Shift {
            from: high.left,
            to: high.right,
            by: low.left - high.left,
        },
    ];
    let between = Shift {
        from: low.right + 1,
        to: high.left - 1,
        by: high.width() - low.width(),
    };
    if between.from <= between.to {
        shifts.push(between);
    }
    shifts
}

/// The record of the places of two nodes in the lists of their parents after a swap.
fn exchanged(one: &Side, other: &Side) -> Vec<Listed> {
    let place = |side: &Side, node: &Node| {
        let index = |lister: &Node| lister.children.iter().position(|id| *id == side.node.id);
        let index = side.lister.as_ref().and_then(index);
        Listed {
            parent: side.lister.as_ref().map(|lister| lister.id.clone()),
            index: index.and_then(|index| i64::try_from(index).ok()),
            nodes: vec![node.id.clone()],
        }
    };
    let mut lists = vec![place(one, &other.node), place(other, &one.node)];
    // The places of siblings are taken from the front.
    lists.sort_by_key(|listed| listed.index);
    lists
}
