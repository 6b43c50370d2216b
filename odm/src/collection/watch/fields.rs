//! The typed fields of change events.

use std::fmt;

use bson::Timestamp;

use super::change::{Change, OperationType};
use crate::model::{Document, Path};
use crate::query::Field;

/// The fields of an event about the model `M`, for the closure of [`Watch::filter`](super::Watch::filter).
#[non_exhaustive]
pub struct ChangeFields<M: Document> {
    /// The type of the operation.
    pub operation_type: Field<Change<M>, OperationType>,
    /// The document's `_id`.
    pub id: Field<Change<M>, M::Id>,
    /// The cluster time of the operation.
    pub cluster_time: Field<Change<M>, Timestamp>,
    /// The fields of the full document, if the event contains it.
    pub full_document: M::Fields<Change<M>>,
    /// The fields of the document before the change, if the event contains it.
    pub full_document_before_change: M::Fields<Change<M>>,
    /// The new values of fields that an update set as a whole. For a change inside a field, the event uses the whole
    /// dotted path as one field name, which no filter can match.
    pub updated_fields: M::Fields<Change<M>>,
}

impl<M: Document> ChangeFields<M> {
    pub(super) fn new() -> Self {
        let at = |name| Path::root().child(name);
        Self {
            operation_type: Field::at_path(at("operationType")),
            id: Field::at_path(at("documentKey").child("_id")),
            cluster_time: Field::at_path(at("clusterTime")),
            full_document: M::fields(at("fullDocument")),
            full_document_before_change: M::fields(at("fullDocumentBeforeChange")),
            updated_fields: M::fields(at("updateDescription").child("updatedFields")),
        }
    }
}

impl<M: Document> fmt::Debug for ChangeFields<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangeFields<{}>", M::model().name)
    }
}
