//! Deletes of nodes.

use bson::{Bson, Document, doc};

use crate::error::{Result, TreeRefusal};
use crate::model::tree::TreeDelete;
use crate::tree::journal::{
    Below, EnclosingNodes, Fence, Lineage, Placed, Shift, Unfinished, Writes,
};
use crate::tree::node::{Node, same_id};
use crate::tree::places::{AncestorsBy, DescendantsBy, Links, RankGap, nothing};
use crate::tree::tree_store::{TreeStore, TreeWrite};
use crate::write::{ForDependents, dependents};

impl TreeStore<'_> {
    /// Deletes a node, and does with its children what the policy says.
    pub(in crate::tree) async fn remove(
        &mut self,
        id: &Bson,
        policy: TreeDelete,
        dependents: ForDependents,
    ) -> Result<TreeWrite> {
        let fence = self.fence_of(id).await?;
        let is_read = policy != TreeDelete::Cascade || !self.deletes_by_id();
        let node = if is_read {
            self.node(id).await?
        } else {
            Node {
                id: id.clone(),
                ..Node::default()
            }
        };
        let knows = self.ways.has_children.is_stored();
        // Descendants that go, too, and are in no other tree, need no question whether there are any.
        let is_asked = knows || policy != TreeDelete::Cascade || self.model.trees.len() > 1;
        let is_leaf = is_asked && !self.has_children(&node).await?;
        let mut all = Vec::new();
        if is_leaf || policy != TreeDelete::Restrict {
            all = self.leave_others(id).await?;
        }
        let mut own = match policy {
            TreeDelete::Restrict if !is_leaf => {
                return Err(self.refused(
                    TreeRefusal::HasChildren,
                    format!(
                        "the node {} has children, and the tree declares `on_delete = restrict`: delete them first, or choose another policy",
                        node.id
                    ),
                ));
            }
            // The children of a node in a graph stay where they are.
            _ if self.tree.is_graph => self.remove_subtree(fence, &node, true).await?,
            TreeDelete::Adopt | TreeDelete::MakeRoots if !is_leaf => {
                let adopt = policy == TreeDelete::Adopt;
                self.remove_one(fence, &node, adopt).await?
            }
            _ => self.remove_subtree(fence, &node, is_leaf).await?,
        };
        own.requires = (!is_read).then(|| id.clone());
        all.insert(0, own);
        if dependents == ForDependents::Act {
            let filters = all.iter().flat_map(|writes| writes.delete.iter().cloned());
            let filter = doc! {"$or": filters.collect::<Vec<_>>()};
            dependents::act(&mut self.channel, self.model, filter).await?;
        }
        let mut done = TreeWrite::default();
        self.run_writes(all, &mut done).await?;
        Ok(done)
    }

    /// Whether the id of a node is enough to delete it with its descendants.
    fn deletes_by_id(&self) -> bool {
        let tree = self.tree;
        let finds_by_id = matches!(
            self.ways.descendants,
            DescendantsBy::Ancestors(_) | DescendantsBy::Links(Links::Parent(_))
        );
        let needs_fields = tree.children.is_some()
            || tree.scope.is_some()
            || tree.child_count.is_some()
            || tree.descendant_count.is_some();
        finds_by_id && !needs_fields && self.model.trees.len() == 1
    }

    /// Deletes a node and its descendants.
    async fn remove_subtree(&mut self, fence: Fence, node: &Node, is_leaf: bool) -> Result<Writes> {
        let mut below = None;
        if !is_leaf {
            if self.model.trees.len() > 1 {
                return Err(self.refused(
                    TreeRefusal::HasChildren,
                    format!(
                        "the node {} has descendants, which are nodes of other trees, too: delete them one by one, leaves first",
                        node.id
                    ),
                ));
            }
            below = Some(self.descendants(node).await?);
        }
        let mut writes = self.detached(fence, node).await?;
        writes.delete.push(Self::by_id(&node.id));
        if let Some(below) = below {
            self.record_below(node, &below, &mut writes.record)?;
            writes.delete.push(below);
        }
        Ok(writes)
    }

    /// Records which nodes the filter of the descendants matches.
    fn record_below(&self, node: &Node, filter: &Document, record: &mut Unfinished) -> Result<()> {
        record.below = match self.ways.ancestors {
            AncestorsBy::Ancestors => Some(Below::Ancestor(node.id.clone())),
            AncestorsBy::Path => Some(Below::Path(node.path_of_children()?)),
            AncestorsBy::Bounds(..) => Some(Below::Bounds(node.left, node.right)),
            AncestorsBy::Links(_) => {
                let ids = filter.get_document("_id").ok();
                let ids = ids.and_then(|ids| ids.get_array("$in").ok());
                record.gone.extend(ids.into_iter().flatten().cloned());
                None
            }
        };
        Ok(())
    }

    /// The writes that take a node and its descendants out of the fields of the other nodes.
    async fn detached(&mut self, fence: Fence, node: &Node) -> Result<Writes> {
        let tree = self.tree;
        let mut record = Unfinished::new("delete", &node.id);
        record.gone.push(node.id.clone());
        let mut writes = Writes::new(self.tree, fence, record);
        let mut before = Vec::new();
        let mut enclosing = EnclosingNodes::Bounds;
        if self.depends_on_lineage() {
            before = self.lineage(node).await?;
            enclosing = EnclosingNodes::Ids(before.clone());
        }
        let then = &mut writes.then;
        if tree.children.is_some() {
            then.extend(self.unlist_everywhere(&node.id));
        } else if tree.child_count.is_some()
            && let Some(parent) = self.parent_of(node).await?
        {
            then.extend(self.count_children(&parent, -1));
        }
        then.extend(self.count_descendants(&before, -(node.descendant_count + 1)));
        let close = Shift {
            from: node.right + 1,
            to: i64::MAX,
            by: -node.width(),
        };
        writes.moves(vec![close], enclosing);
        Ok(writes)
    }

    /// The writes that take a node out of the other trees of its model, where it may have no children.
    async fn leave_others(&mut self, id: &Bson) -> Result<Vec<Writes>> {
        let mut all = Vec::new();
        for tree in self.others() {
            let mut other = self.other(tree);
            let fence = other.fence_of(id).await?;
            let node = other.node(id).await?;
            if other.has_children(&node).await? {
                return Err(other.refused(
                    TreeRefusal::HasChildren,
                    format!("the node {id} has children: move them first"),
                ));
            }
            all.push(other.detached(fence, &node).await?);
        }
        Ok(all)
    }

    /// Deletes one node. Its children come in its place, or become the last roots.
    async fn remove_one(&mut self, fence: Fence, node: &Node, adopt: bool) -> Result<Writes> {
        let tree = self.tree;
        let scope = node.scope.as_ref();
        let before = self.lineage(node).await?;
        let parent = match before.last() {
            Some(id) => Some(self.node(id).await?),
            None => None,
        };
        let adopted = parent.as_ref().filter(|_| adopt);
        let children = self.children(node).await?;
        let children = self.nodes(children, self.sibling_sort(), None).await?;
        let mut record = Unfinished::new("delete", &node.id);
        record.gone.push(node.id.clone());
        let mut writes = Writes::new(self.tree, fence, record);
        let after: &[Bson] = if adopt { &before } else { &[] };
        if self.keeps_lineage() {
            let path = match tree.path {
                Some(_) => node.path_of_children()?,
                None => String::new(),
            };
            let lineage = Lineage {
                dropped: before.len() + 1,
                path: &path,
                ancestors: after,
            };
            let filter = self.descendants(node).await?;
            writes.first.push(self.change_lineage(filter, &lineage)?);
        }
        if tree.bounds.is_some() {
            let end = if adopt {
                node.right
            } else {
                self.last_bound(scope).await?
            };
            writes.moves(
                shifts(node, end, adopt),
                EnclosingNodes::Ids(before.clone()),
            );
        }
        let ranks = self
            .ranks_of_children(node, adopted, adopt, children.len())
            .await?;
        let then = &mut writes.then;
        then.extend(self.reparent(node, &children, adopted, &ranks));
        let ids = children.iter().map(|child| child.id.clone());
        let mut ranks = ranks.into_iter();
        writes.record.sets.push(Placed {
            fields: self.fields_below(after)?,
            nodes: ids.map(|id| (id, ranks.next())).collect(),
        });
        if let Some(parent) = &parent {
            let place = parent.children.iter().position(|id| same_id(id, &node.id));
            then.extend(self.unlist_child(&parent.id, &node.id));
            if adopt {
                let index = place.and_then(|place| i64::try_from(place).ok());
                then.extend(self.list_children(&parent.id, &node.children, index));
                writes.record.lists = self.recorded_list(Some(&parent.id), index, &node.children);
            }
            let gained = if adopt { children.len() } else { 0 };
            let by = i64::try_from(gained).unwrap_or(i64::MAX) - 1;
            then.extend(self.count_children(&parent.id, by));
        }
        let lost = if adopt { 1 } else { node.descendant_count + 1 };
        then.extend(self.count_descendants(&before, -lost));
        writes.delete.push(Self::by_id(&node.id));
        Ok(writes)
    }

    /// The statements that give the children of a deleted node another parent, and ranks at their new place.
    fn reparent(
        &self,
        node: &Node,
        children: &[Node],
        parent: Option<&Node>,
        ranks: &[String],
    ) -> Vec<Document> {
        let mut fields = Document::new();
        if let Some((field, root)) = self.tree.parent {
            let id = parent.map(|parent| parent.id.clone());
            fields.insert(field, id.unwrap_or_else(|| root.value()));
        }
        let Some(order) = self.tree.order else {
            if fields.is_empty() {
                return Vec::new();
            }
            let filter = match self.tree.parent {
                Some((field, _)) => {
                    self.in_scope(node.scope.as_ref(), doc! {field: {"$eq": node.id.clone()}})
                }
                None => nothing(),
            };
            return vec![doc! {"q": filter, "u": {"$set": fields}, "multi": true}];
        };
        let each = children.iter().zip(ranks).map(|(child, rank)| {
            let mut fields = fields.clone();
            fields.insert(order, rank);
            doc! {"q": Self::by_id(&child.id), "u": {"$set": fields}}
        });
        each.collect()
    }

    /// Ranks for the children of a deleted node at their new place.
    async fn ranks_of_children(
        &mut self,
        node: &Node,
        parent: Option<&Node>,
        adopt: bool,
        count: usize,
    ) -> Result<Vec<String>> {
        let Some(field) = self.tree.order else {
            return Ok(Vec::new());
        };
        let siblings = match parent {
            Some(parent) => self.children(parent).await?,
            None => self.roots(node.scope.as_ref()).await?,
        };
        let own = node.rank.clone().filter(|_| adopt);
        let (beyond, direction) = match &own {
            Some(rank) => (doc! {"$and": [siblings, {field: {"$gt": rank}}]}, 1),
            None => (siblings, -1),
        };
        let found = self
            .nodes(beyond, Some(doc! {field: direction}), Some(1))
            .await?;
        let other = found.into_iter().next().and_then(|node| node.rank);
        let gap = match own {
            Some(own) => RankGap {
                low: Some(own),
                high: other,
            },
            None => RankGap {
                low: other,
                high: None,
            },
        };
        self.ranks(&gap, count)
    }
}

/// How bounds move if a node goes and its children stay, in its place or after the last root, which ends at `end`.
fn shifts(node: &Node, end: i64, adopt: bool) -> Vec<Shift> {
    let inside = |by| Shift {
        from: node.left + 1,
        to: node.right - 1,
        by,
    };
    if adopt {
        let after = Shift {
            from: node.right + 1,
            to: i64::MAX,
            by: -2,
        };
        return vec![inside(-1), after];
    }
    let after = Shift {
        from: node.right + 1,
        to: end,
        by: -node.width(),
    };
    vec![inside(end - node.right - 1), after]
}
