//! Shows the index key by which a document was found as a document, for `returnKey`.

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::hash::hash;

use crate::index::keys::Values;
use crate::index::spec::{Kind, Spec};
use crate::index::{Index, append};

impl Index {
    /// Returns the document's key with these bytes, under the field names of the index. `None` if the document has no
    /// such key.
    pub(crate) fn shown_key(
        &self,
        document: &RawDocument,
        key: &[u8],
    ) -> Result<Option<RawDocumentBuf>, ServerError> {
        let what = match self.spec.kind {
            Kind::Ordered | Kind::Hashed if self.spec.collation.is_none() => {
                let mut shown = None;
                self.each_key(document, &mut |values, spec| {
                    if shown.is_none() && bytes(values, spec) == key {
                        shown = Some(show(values, spec));
                    }
                })?;
                return Ok(shown);
            }
            Kind::Wildcard => "a wildcard index",
            Kind::Geo => "a geospatial index",
            Kind::Text => "a text index",
            Kind::Ordered | Kind::Hashed => "an index with a collation",
        };
        Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            format!("the in-memory engine does not support the keys of {what} (returnKey)"),
        ))
    }
}

fn bytes(values: &Values<'_>, spec: &Spec) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (value, part) in values.iter().zip(&spec.parts) {
        append(&mut bytes, *value, part, spec);
    }
    bytes
}

fn show(values: &Values<'_>, spec: &Spec) -> RawDocumentBuf {
    let mut shown = bson::Document::new();
    for ((name, value), part) in spec.key.keys().zip(values).zip(&spec.parts) {
        let value = value.unwrap_or(RawBsonRef::Null);
        let value = if part.hashed {
            Bson::Int64(hash(value))
        } else {
            Bson::try_from(value).unwrap_or(Bson::Null)
        };
        shown.insert(name, value);
    }
    RawDocumentBuf::try_from(&shown).unwrap_or_default()
}
