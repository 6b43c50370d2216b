//! Writes that would change a tree without its other nodes.

use bson::Document;

use super::call::Call;
use crate::error::{Error, Result};
use crate::model::ModelMeta;
use crate::store::Operation;

/// A write that a tree does not see.
#[derive(Debug, Clone, Copy)]
enum Unseen {
    Insert,
    Upsert,
    Delete,
}

impl Unseen {
    fn of(operation: &Operation, upsert: Option<bool>) -> Option<Self> {
        match operation {
            Operation::InsertOne { .. } | Operation::InsertMany { .. } => Some(Self::Insert),
            // No node is left behind.
            Operation::Delete { filter, multi } if *multi && filter.is_empty() => None,
            Operation::Delete { .. } | Operation::FindAndDelete { .. } => Some(Self::Delete),
            _ if upsert == Some(true) => Some(Self::Upsert),
            _ => None,
        }
    }

    fn refuse(self) -> Error {
        let (what, instead) = match self {
            Self::Insert => (
                "an insert leaves the other nodes of the tree as they are",
                "insert the node by `db.tree::<…>().insert(…)`, or several by `load`",
            ),
            Self::Upsert => (
                "an upsert could insert a node without a place in the tree",
                "update without `upsert`, and insert the node by `db.tree::<…>().insert(…)`",
            ),
            Self::Delete => (
                "a delete leaves the children of the node, and the other nodes of the tree, as they are",
                "delete the node by `db.tree::<…>().delete(…)`",
            ),
        };
        Error::usage(format!(
            "{what}: {instead}; or, if the fields of the tree are right afterwards, write through \
             `collection.bypass_trees()`"
        ))
    }
}

impl Call<'_> {
    /// Refuses a write of a node that the trees of the model do not see.
    pub(super) fn check_trees(&self, operation: &Operation, upsert: Option<bool>) -> Result<()> {
        let bypasses = self.defaults.as_ref().is_some_and(|it| it.bypasses_trees);
        if self.model.trees.is_empty() || bypasses {
            return Ok(());
        }
        match Unseen::of(operation, upsert) {
            Some(unseen) => Err(unseen.refuse()),
            None => Ok(()),
        }
    }
}

/// Refuses an update that `save` makes of changed fields of a tree.
pub(super) fn check_saved(update: &Document, model: &ModelMeta) -> Result<()> {
    let operators = ["$set", "$unset"].iter();
    let changes = operators.filter_map(|operator| update.get_document(operator).ok());
    let changed: Vec<&str> = changes
        .flat_map(Document::keys)
        .filter_map(|path| path.split('.').next())
        .collect();
    let mut kept = model.trees.iter().flat_map(|tree| tree.fields());
    match kept.find(|field| changed.contains(field)) {
        None => Ok(()),
        Some(field) => Err(Error::usage(
            "a tree keeps this field in step with other documents, and `save` would write only this one: change it by the \
             operations of the tree, such as `db.tree::<…>().move_to(…)`, and leave it as it was loaded",
        )
        .with_path(field)),
    }
}
