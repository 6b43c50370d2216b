//! The version, which every typed write of a stored document increments.

use bson::{Bson, doc};

use super::{Maintained, Maintainer, Maintenance};
use crate::model::{ModelMeta, Version};

pub(super) struct Versions;

impl Maintainer for Versions {
    fn concerns(&self, model: &ModelMeta) -> bool {
        model.version.is_some()
    }

    fn fields(&self, model: &'static ModelMeta) -> Vec<Maintained> {
        let Some(Version { name, one }) = model.version() else {
            return Vec::new();
        };
        let next: Bson =
            doc! { "$add": [{ "$ifNull": [format!("${name}"), 0] }, one.clone()] }.into();
        vec![Maintained {
            name,
            refusal: "each typed update increments the version field, so that `save` notices it: leave the field \
                      out, or write the whole update raw",
            change: Some(Maintenance {
                operator: "$inc",
                operand: one,
                expression: next.clone(),
            }),
            on_insert: None,
            replaced: next,
        }]
    }
}
