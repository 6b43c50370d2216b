//! The nodes and places that a change refuses.

use bson::Bson;
use bson::raw::RawDocument;

use crate::error::{Result, TreeRefusal};
use crate::model::tree::{RootParent, path_text};
use crate::tree::node::{id_key, stored_scope};
use crate::tree::places::Placement;
use crate::tree::tree_store::TreeStore;

impl TreeStore<'_> {
    /// The scope of a document to insert.
    pub(in crate::tree) fn scope_of(&self, document: &RawDocument) -> Result<Option<Bson>> {
        stored_scope(self.tree, document)
    }

    /// Whether there are ids that the tree could not refer to.
    pub(in crate::tree) fn checks_ids(&self) -> bool {
        self.tree.path.is_some() || matches!(self.tree.parent, Some((_, RootParent::Zero)))
    }

    /// Refuses ids that the tree could not refer to.
    pub(in crate::tree) fn check_id(&self, id: &Bson) -> Result<()> {
        if self.tree.path.is_some() {
            path_text(id).map_err(|error| error.with_model(self.model.name))?;
        }
        let root_is_zero = matches!(self.tree.parent, Some((_, RootParent::Zero)));
        if root_is_zero && id_key(id)? == id_key(&Bson::Int32(0))? {
            let message = "a node can't have the id 0, which stands for the parent of a root";
            return Err(self.refused(TreeRefusal::Id, message));
        }
        Ok(())
    }

    /// Refuses a place that is too deep for a node with this many levels below it.
    pub(super) fn check_depth(&self, placement: &Placement, height: usize) -> Result<()> {
        self.check_level(placement.lineage.len() + height)
    }

    /// Refuses a node with too many ancestors.
    pub(in crate::tree) fn check_level(&self, depth: usize) -> Result<()> {
        let Some(max) = self.tree.max_depth else {
            return Ok(());
        };
        if depth > max as usize {
            return Err(self.refused(
                TreeRefusal::TooDeep,
                format!(
                    "a node would have {depth} ancestors, and the tree declares `max_depth = {max}`"
                ),
            ));
        }
        Ok(())
    }
}
