//! The fields that a node keeps because of its place.

use bson::{Bson, Document};

use super::placement::Placement;
use crate::error::Result;
use crate::tree::node::{child_path, stored};
use crate::tree::tree_store::TreeStore;

impl TreeStore<'_> {
    /// The path of a node with these ancestors; `None` for a root.
    pub(in crate::tree) fn path_of(&self, ancestors: &[Bson]) -> Result<Option<String>> {
        let mut path = None;
        if self.tree.path.is_some() {
            for id in ancestors {
                path = Some(child_path(path.as_deref(), id)?);
            }
        }
        Ok(path)
    }

    /// Whether nodes keep what depends on all of their ancestors.
    pub(in crate::tree) fn keeps_lineage(&self) -> bool {
        self.tree.ancestors.is_some() || self.tree.path.is_some() || self.tree.depth.is_some()
    }

    /// Whether a change needs the ids of all ancestors of a node, and not only its parent. Bounds find ancestors, too.
    pub(in crate::tree) fn depends_on_lineage(&self) -> bool {
        self.keeps_lineage()
            || self.tree.descendant_count.is_some()
            || self.tree.max_depth.is_some()
    }

    /// The kept fields that a node has because of its place, without its bounds.
    pub(in crate::tree) fn fields_at(&self, placement: &Placement) -> Result<Document> {
        let mut fields = self.fields_below(&placement.lineage)?;
        if let Some(field) = self.tree.order {
            fields.insert(field, self.ranks(&placement.ranks, 1)?.pop());
        }
        Ok(fields)
    }

    /// The kept fields that all children of a node have, without their bounds and ranks.
    ///
    /// `lineage` is the node and its ancestors, the root first; only the node where nothing depends on the others.
    pub(in crate::tree) fn fields_below(&self, lineage: &[Bson]) -> Result<Document> {
        let tree = self.tree;
        let mut fields = Document::new();
        if let Some((parent, root)) = tree.parent {
            let id = lineage.last().cloned();
            fields.insert(parent, id.unwrap_or_else(|| root.value()));
        }
        if let Some(ancestors) = tree.ancestors {
            fields.insert(ancestors, lineage);
        }
        if let Some((path, _)) = tree.path {
            fields.insert(path, self.path_of(lineage)?);
        }
        if let Some(depth) = tree.depth {
            let levels = i64::try_from(lineage.len()).unwrap_or(i64::MAX);
            fields.insert(depth, stored(levels));
        }
        Ok(fields)
    }
}
