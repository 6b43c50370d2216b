//! The fields that a tree keeps: typed writes leave them to the operations of the tree.

use super::{Maintainer, is_in};
use crate::error::{Error, Result};
use crate::model::ModelMeta;
use crate::query::deferred::Deferred;
use crate::update::operators::{Changes, Part, Stage};

pub(super) struct Trees;

impl Maintainer for Trees {
    fn concerns(&self, model: &ModelMeta) -> bool {
        !model.trees.is_empty()
    }

    fn update(&self, model: &'static ModelMeta, changes: Changes) -> Result<Changes, Deferred> {
        for field in model.trees.iter().flat_map(|tree| tree.fields()) {
            let is_changed = match &changes {
                Changes::Operators(parts) => parts
                    .iter()
                    .any(|part| matches!(part, Part::Field(_)) && part.changes(field)),
                Changes::Pipeline(stages) => stages
                    .iter()
                    .any(|stage| matches!(stage, Stage::Set { path, .. } if is_in(path, field))),
            };
            if is_changed {
                return Err(Deferred::usage(
                    field,
                    "a tree keeps this field in step with other documents: change it by the operations of the tree, \
                     such as `db.tree::<…>().move_to(…)`, or write the whole update raw",
                ));
            }
        }
        Ok(changes)
    }

    fn replace(&self, _: &'static ModelMeta) -> Result<()> {
        Err(Error::usage(
            "a replacement would overwrite the place of the node in its tree with the one that was read: use `save`, or \
             update the fields that change",
        ))
    }
}
