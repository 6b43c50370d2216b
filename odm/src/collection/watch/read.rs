//! Decodes raw events into [`Change`]s.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, Uuid};
use odm_language::value::raw;

use super::ANY;
use super::change::{Change, Namespace, Operation, ResumeToken, UpdateDescription};
use crate::collection::{decode, decode_document, decode_id};
use crate::error::{DecodeError, Error, Result};
use crate::model::Document as Model;

/// The document type of a change stream: a model, or `bson::Document` for streams over several models. The trait is
/// sealed.
pub trait Watched: Sized + Send + 'static + sealed::Read {
    /// The type of an `_id`.
    type Key: Clone + Send + Sync + 'static;

    #[doc(hidden)]
    fn document_key(id: Bson) -> Result<Self::Key>;
}

mod sealed {
    use bson::raw::RawDocument;

    use crate::error::Result;

    /// Decodes a document.
    pub trait Read: Sized {
        /// The type's name in errors.
        fn name() -> &'static str;
        fn read(document: &RawDocument) -> Result<Self>;
    }
}

impl<M: Model> Watched for M {
    type Key = M::Id;

    fn document_key(id: Bson) -> Result<M::Id> {
        decode_id::<M>(id)
    }
}

impl<M: Model> sealed::Read for M {
    fn name() -> &'static str {
        M::model().name
    }

    fn read(document: &RawDocument) -> Result<M> {
        decode_document(document)
    }
}

impl Watched for Document {
    type Key = Bson;

    fn document_key(id: Bson) -> Result<Bson> {
        Ok(id)
    }
}

impl sealed::Read for Document {
    fn name() -> &'static str {
        ANY
    }

    fn read(document: &RawDocument) -> Result<Self> {
        decode(document, ANY)
    }
}

const FULL_DOCUMENT: &str = "fullDocument";
const BEFORE: &str = "fullDocumentBeforeChange";

/// Decodes an event.
pub(super) fn change<T: Watched>(event: &RawDocument) -> Result<Change<T>> {
    let value = |name: &str| raw::get(event, name);
    let document = |name: &str| value(name).and_then(RawBsonRef::as_document);
    let Some(operation) = value("operationType").and_then(RawBsonRef::as_str) else {
        return Err(missing::<T>("operationType"));
    };
    Ok(Change {
        operation: operation_of(operation, event)?,
        resume_token: match document("_id") {
            Some(token) => ResumeToken::new(decode(token, T::name())?),
            None => return Err(missing::<T>("_id")),
        },
        namespace: namespace::<T>(event, "ns")?,
        collection_uuid: value("collectionUUID").and_then(uuid),
        cluster_time: match value("clusterTime") {
            Some(RawBsonRef::Timestamp(time)) => time,
            _ => return Err(missing::<T>("clusterTime")),
        },
        wall_time: match value("wallTime") {
            Some(RawBsonRef::DateTime(time)) => Some(time),
            _ => None,
        },
        lsid: document("lsid")
            .map(|it| decode(it, T::name()))
            .transpose()?,
        txn_number: value("txnNumber").and_then(RawBsonRef::as_i64),
    })
}

fn operation_of<T: Watched>(operation: &str, event: &RawDocument) -> Result<Operation<T>> {
    let full_document = || whole::<T>(event, FULL_DOCUMENT);
    let before = || whole::<T>(event, BEFORE).map_err(|error| error.context("before the change"));
    let required = || full_document()?.ok_or_else(|| missing::<T>(FULL_DOCUMENT));
    Ok(match operation {
        "insert" => Operation::Insert {
            id: id::<T>(event)?,
            full_document: required()?,
        },
        "update" => Operation::Update {
            id: id::<T>(event)?,
            update_description: description::<T>(event)?,
            full_document: full_document()?,
            full_document_before_change: before()?,
        },
        "replace" => Operation::Replace {
            id: id::<T>(event)?,
            full_document: required()?,
            full_document_before_change: before()?,
        },
        "delete" => Operation::Delete {
            id: id::<T>(event)?,
            full_document_before_change: before()?,
        },
        "drop" => Operation::Drop,
        "rename" => Operation::Rename {
            to: namespace::<T>(event, "to")?.ok_or_else(|| missing::<T>("to"))?,
            replaced: described(event)
                .and_then(|it| raw::get(it, "dropTarget"))
                .and_then(uuid),
        },
        "create" => Operation::Create {
            description: description_of::<T>(event)?,
        },
        "createIndexes" => Operation::CreateIndexes {
            indexes: indexes::<T>(event)?,
        },
        "dropIndexes" => Operation::DropIndexes {
            indexes: indexes::<T>(event)?,
        },
        "modify" => Operation::Modify {
            description: description_of::<T>(event)?,
            before: match raw::get(event, "stateBeforeChange") {
                Some(RawBsonRef::Document(before)) => Some(decode(before, T::name())?),
                _ => None,
            },
        },
        "dropDatabase" => Operation::DropDatabase,
        "invalidate" => Operation::Invalidate,
        other => Operation::Other(other.to_owned()),
    })
}

fn whole<T: Watched>(event: &RawDocument, name: &str) -> Result<Option<T>> {
    match raw::get(event, name) {
        Some(RawBsonRef::Document(document)) => T::read(document).map(Some),
        _ => Ok(None),
    }
}

fn id<T: Watched>(event: &RawDocument) -> Result<T::Key> {
    let key = raw::get(event, "documentKey").and_then(RawBsonRef::as_document);
    let id = key.and_then(|key| raw::get(key, "_id"));
    match id.and_then(|id| Bson::try_from(id).ok()) {
        Some(id) => T::document_key(id),
        None => Err(missing::<T>("documentKey._id")),
    }
}

fn description<T: Watched>(event: &RawDocument) -> Result<UpdateDescription> {
    match raw::get(event, "updateDescription") {
        Some(RawBsonRef::Document(description)) => decode(description, T::name()),
        _ => Err(missing::<T>("updateDescription")),
    }
}

const DESCRIPTION: &str = "operationDescription";

/// The `operationDescription` of an event about a definition.
fn described(event: &RawDocument) -> Option<&RawDocument> {
    raw::get(event, DESCRIPTION).and_then(RawBsonRef::as_document)
}

fn description_of<T: Watched>(event: &RawDocument) -> Result<Document> {
    let description = described(event).ok_or_else(|| missing::<T>(DESCRIPTION))?;
    decode(description, T::name())
}

fn indexes<T: Watched>(event: &RawDocument) -> Result<Vec<Document>> {
    let indexes = described(event).and_then(|it| raw::get(it, "indexes"));
    let Some(RawBsonRef::Array(indexes)) = indexes else {
        return Err(missing::<T>("operationDescription.indexes"));
    };
    let indexes = raw::values(indexes).filter_map(RawBsonRef::as_document);
    indexes.map(|index| decode(index, T::name())).collect()
}

fn uuid(value: RawBsonRef<'_>) -> Option<Uuid> {
    match value {
        RawBsonRef::Binary(binary) => binary.bytes.try_into().ok().map(Uuid::from_bytes),
        _ => None,
    }
}

fn namespace<T: Watched>(event: &RawDocument, name: &str) -> Result<Option<Namespace>> {
    match raw::get(event, name) {
        Some(RawBsonRef::Document(namespace)) => decode(namespace, T::name()).map(Some),
        _ => Ok(None),
    }
}

/// The error for an event that lacks a field because a pipeline stage removed it.
fn missing<T: Watched>(field: &str) -> Error {
    let message = format!(
        "the event has no `{field}`, which a `Change` needs: let the stages of the pipeline keep it, or name another \
         type by `with_type`"
    );
    Error::new(DecodeError::new(None, message, None)).with_model(T::name())
}

/// Decodes an event's documents into a model.
pub(super) fn retyped<M: Model>(change: &Change<Document>) -> Result<Change<M>> {
    let id = |id: &Bson| decode_id::<M>(id.clone());
    let whole = |document: &Document| -> Result<M> {
        let document = RawDocumentBuf::try_from(document).map_err(Error::encode)?;
        decode(&document, M::model().name)
    };
    let before = |document: &Option<Document>| {
        let document = document.as_ref().map(whole).transpose();
        document.map_err(|error| error.context("before the change"))
    };
    let operation = match &change.operation {
        Operation::Insert {
            id: of,
            full_document,
        } => Operation::Insert {
            id: id(of)?,
            full_document: whole(full_document)?,
        },
        Operation::Update {
            id: of,
            update_description,
            full_document,
            full_document_before_change,
        } => Operation::Update {
            id: id(of)?,
            update_description: update_description.clone(),
            full_document: full_document.as_ref().map(whole).transpose()?,
            full_document_before_change: before(full_document_before_change)?,
        },
        Operation::Replace {
            id: of,
            full_document,
            full_document_before_change,
        } => Operation::Replace {
            id: id(of)?,
            full_document: whole(full_document)?,
            full_document_before_change: before(full_document_before_change)?,
        },
        Operation::Delete {
            id: of,
            full_document_before_change,
        } => Operation::Delete {
            id: id(of)?,
            full_document_before_change: before(full_document_before_change)?,
        },
        Operation::Drop => Operation::Drop,
        Operation::Rename { to, replaced } => Operation::Rename {
            to: to.clone(),
            replaced: *replaced,
        },
        Operation::DropDatabase => Operation::DropDatabase,
        Operation::Create { description } => Operation::Create {
            description: description.clone(),
        },
        Operation::CreateIndexes { indexes } => Operation::CreateIndexes {
            indexes: indexes.clone(),
        },
        Operation::DropIndexes { indexes } => Operation::DropIndexes {
            indexes: indexes.clone(),
        },
        Operation::Modify {
            description,
            before,
        } => Operation::Modify {
            description: description.clone(),
            before: before.clone(),
        },
        Operation::Invalidate => Operation::Invalidate,
        Operation::Other(name) => Operation::Other(name.clone()),
    };
    Ok(Change {
        operation,
        resume_token: change.resume_token.clone(),
        namespace: change.namespace.clone(),
        collection_uuid: change.collection_uuid,
        cluster_time: change.cluster_time,
        wall_time: change.wall_time,
        lsid: change.lsid.clone(),
        txn_number: change.txn_number,
    })
}
