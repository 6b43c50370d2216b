//! The version of the schema, which every inserted, replaced or rewritten document has.

use bson::raw::RawDocumentBuf;

use super::{Maintainer, with_values};
use crate::error::Result;
use crate::model::ModelMeta;

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
