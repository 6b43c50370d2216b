//! The version, which every typed write of a stored document increments, and the version of the schema, which every document has
//! that is inserted, replaced or rewritten.

use bson::raw::RawDocumentBuf;
use bson::{Bson, doc};

use super::{Maintained, Maintainer, Maintenance, with_values};
use crate::error::Result;
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

pub(super) struct SchemaVersions;

impl Maintainer for SchemaVersions {
    fn concerns(&self, model: &ModelMeta) -> bool {
        model.schema.is_some()
    }

    fn derive(
        &self,
        model: &'static ModelMeta,
        document: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        match model.schema {
            Some(schema) => with_values(&document, &[(schema.field, schema.version.into())]),
            None => Ok(document),
        }
    }
}
