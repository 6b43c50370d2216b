//! Moves of nodes with their subtrees.

use bson::{Bson, Document};

use crate::error::{Result, TreeRefusal};
use crate::tree::journal::{EnclosingNodes, Lineage, Shift, Unfinished, Writes};
use crate::tree::node::{Node, id_key};
use crate::tree::places::{Moving, Placement};
use crate::tree::position::Target;
use crate::tree::tree_store::{TreeStore, TreeWrite};

impl TreeStore<'_> {
    /// Moves a node and its subtree to a place.
    pub(in crate::tree) async fn relocate(
        &mut self,
        id: &Bson,
        target: &Target,
    ) -> Result<TreeWrite> {
        let fence = self.fence_of(id).await?;
        let moving = match target.node() {
            Some(named) => {
                let (node, named) = self.pair(id, named).await?;
                let named = Some(named);
                Moving { node, named }
            }
            None => Moving {
                node: self.node(id).await?,
                named: None,
            },
        };
        let node = &moving.node;
        let placement = self
            .placement(target, node.scope.as_ref(), Some(&moving))
            .await?;
        let own = id_key(&node.id)?;
        // Where the lineage has only the parent, the bounds show what is above it.
        let by_bounds = self.tree.bounds.is_some() && !self.depends_on_lineage();
        let encloses =
            |parent: &Node| by_bounds && node.left <= parent.left && parent.right <= node.right;
        let mut is_below = placement.parent.as_ref().is_some_and(encloses);
        for ancestor in &placement.lineage {
            is_below |= id_key(ancestor)? == own;
        }
        if is_below {
            return Err(self.refused(
                TreeRefusal::OwnSubtree,
                format!("the node {} can't move into its own subtree", node.id),
            ));
        }
        let before = self.lineage_to_leave(node).await?;
        let stays = match (before.last(), &placement.parent) {
            (None, None) => true,
            (Some(before), Some(after)) => id_key(before)? == id_key(&after.id)?,
            _ => false,
        };
        if !stays && self.tree.max_depth.is_some() {
            let height = self.height(node, before.len()).await?;
            self.check_depth(&placement, height)?;
        }
        let mut writes = Writes::new(self.tree, fence, Unfinished::new("move", &node.id));
        let mut fields = self.fields_at(&placement)?;
        if stays {
            let order = self.tree.order;
            fields = fields
                .into_iter()
                .filter(|(field, _)| Some(field.as_str()) == order)
                .collect();
        }
        writes.place(&node.id, fields);
        if !stays && self.keeps_lineage() {
            let change = self
                .lineage_change(node, &before, &placement.lineage)
                .await?;
            writes.first.push(change);
        }
        let enclosing = if self.depends_on_lineage() {
            EnclosingNodes::Ids([before.as_slice(), &placement.lineage].concat())
        } else {
            EnclosingNodes::Bounds
        };
        writes.moves(shifts(node, &placement), enclosing);
        let then = &mut writes.then;
        if self.only_lists() {
            then.extend(self.unlist_everywhere(&node.id));
        } else if let Some(parent) = before.last() {
            then.extend(self.unlist_child(parent, &node.id));
        }
        let parent = placement.parent.as_ref().map(|parent| &parent.id);
        let ids = std::slice::from_ref(&node.id);
        then.extend(parent.and_then(|parent| self.list_children(parent, ids, placement.index)));
        if !stays {
            then.extend(before.last().and_then(|id| self.count_children(id, -1)));
            then.extend(parent.and_then(|parent| self.count_children(parent, 1)));
            let size = node.descendant_count + 1;
            then.extend(self.count_descendants(&before, -size));
            then.extend(self.count_descendants(&placement.lineage, size));
        }
        writes.record.lists = self.recorded_list(parent, placement.index, ids);
        let mut done = TreeWrite::default();
        self.run_writes(vec![writes], &mut done).await?;
        Ok(done)
    }

    /// The statement that changes the lineage of the descendants of a node.
    pub(super) async fn lineage_change(
        &mut self,
        node: &Node,
        before: &[Bson],
        after: &[Bson],
    ) -> Result<Document> {
        let lineage = Lineage {
            dropped: before.len(),
            path: node.path.as_deref().unwrap_or(","),
            ancestors: after,
        };
        let filter = self.descendants(node).await?;
        self.change_lineage(filter, &lineage)
    }

    /// The ancestors of a node that moves, as far as anything depends on them.
    async fn lineage_to_leave(&mut self, node: &Node) -> Result<Vec<Bson>> {
        if self.depends_on_lineage() {
            return self.lineage(node).await;
        }
        let tree = self.tree;
        let is_known = tree.parent.is_some();
        // A list of children alone is found by the child; bounds alone depend on no parent.
        let is_kept = tree.children.is_some() && !self.only_lists() || tree.child_count.is_some();
        if !is_known && !is_kept {
            return Ok(Vec::new());
        }
        let parent = self.parent_of(node).await?;
        Ok(parent.into_iter().collect())
    }
}

/// How bounds move with a subtree: those of its nodes, and of what lies between its old place and its new one.
fn shifts(node: &Node, placement: &Placement) -> Vec<Shift> {
    let width = node.width();
    let (subtree, between) = if placement.left > node.right {
        let between = (node.right + 1, placement.left - 1, -width);
        (placement.left - node.right - 1, between)
    } else {
        (
            placement.left - node.left,
            (placement.left, node.left - 1, width),
        )
    };
    let (from, to, by) = between;
    if from > to {
        return Vec::new();
    }
    let subtree = Shift {
        from: node.left,
        to: node.right,
        by: subtree,
    };
    vec![subtree, Shift { from, to, by }]
}
