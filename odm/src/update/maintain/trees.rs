//! The fields that trees keep: typed updates leave them to the operations of the tree.

use super::maintained::is_in;
use super::operators::{Changes, Part, Stage};
use crate::model::ModelMeta;
use crate::query::deferred::Deferred;

impl Changes {
    /// Refuses changes of fields that a tree of the model keeps; raw changes are sent as they are written.
    pub(crate) fn sparing_trees(self, model: &'static ModelMeta) -> Result<Self, Deferred> {
        for field in model.trees.iter().flat_map(|tree| tree.fields()) {
            let changes = match &self {
                Self::Operators(parts) => parts
                    .iter()
                    .any(|part| matches!(part, Part::Field(_)) && part.changes(field)),
                Self::Pipeline(stages) => stages
                    .iter()
                    .any(|stage| matches!(stage, Stage::Set { path, .. } if is_in(path, field))),
            };
            if changes {
                return Err(Deferred::usage(
                    field,
                    "a tree keeps this field in step with other documents: change it by the operations of the tree, \
                     such as `db.tree::<…>().move_to(…)`, or write the whole update raw",
                ));
            }
        }
        Ok(self)
    }
}
