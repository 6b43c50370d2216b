//! What change streams tell.

use std::fmt;

use bson::{DateTime, Document, Timestamp, Uuid};
use serde::{Deserialize, Serialize};

use super::read::{self, Watched};
use crate::error::Result;
use crate::model::{BsonType, Document as Model, FieldType, Path, Shape, TypeMeta};
use crate::query::Field;

/// One event of a [`ChangeStream`](super::ChangeStream): what was done, to which document of the model `T`, and when.
/// Streams over several models have `bson::Document` for it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Change<T: Watched> {
    /// What was done, and to what.
    pub operation: Operation<T>,
    /// Where a stream goes on behind this event: [`Watch::resume_after`](super::Watch::resume_after).
    pub resume_token: ResumeToken,
    /// Where it was done; of an [`Operation::Invalidate`] nobody tells.
    pub namespace: Option<Namespace>,
    /// The UUID of that collection, where [`show_expanded_events`](super::Watch::show_expanded_events) asked for it.
    pub collection_uuid: Option<Uuid>,
    /// When it was done, as a cluster orders it. The events of one transaction have the same.
    pub cluster_time: Timestamp,
    /// When it was done, by the clock. Servers before 6.0 don't tell.
    pub wall_time: Option<DateTime>,
    /// The session of the transaction that it was part of.
    pub lsid: Option<Document>,
    /// The number of that transaction in its session.
    pub txn_number: Option<i64>,
}

/// What was done. `T::Key` is the type of the model's `_id`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operation<T: Watched> {
    /// A document is new.
    Insert {
        /// Its `_id`.
        id: T::Key,
        /// The document.
        full_document: T,
    },
    /// Parts of a document changed.
    Update {
        /// Its `_id`.
        id: T::Key,
        /// Which parts.
        update_description: UpdateDescription,
        /// The document, if [`Watch::full_document`](super::Watch::full_document) asked for it and it is there.
        full_document: Option<T>,
        /// The document before, if
        /// [`Watch::full_document_before_change`](super::Watch::full_document_before_change) asked for it and it was kept.
        full_document_before_change: Option<T>,
    },
    /// A document took the place of another.
    Replace {
        /// The `_id` of both.
        id: T::Key,
        /// The new one.
        full_document: T,
        /// The old one, if it was asked for and kept.
        full_document_before_change: Option<T>,
    },
    /// A document is gone.
    Delete {
        /// Its `_id`.
        id: T::Key,
        /// The document, if it was asked for and kept.
        full_document_before_change: Option<T>,
    },
    /// The collection is gone.
    Drop,
    /// The collection has another name.
    Rename {
        /// The new one.
        to: Namespace,
        /// The UUID of the collection whose place it took, where
        /// [`show_expanded_events`](super::Watch::show_expanded_events) asked for it.
        replaced: Option<Uuid>,
    },
    /// A collection or a view is new. This and the next three are told where
    /// [`show_expanded_events`](super::Watch::show_expanded_events) asks for them.
    Create {
        /// Its options, and the index on `_id`: what `create` takes.
        description: Document,
    },
    /// Indexes are built.
    CreateIndexes {
        /// Them, as `listIndexes` lists them.
        indexes: Vec<Document>,
    },
    /// Indexes are gone.
    DropIndexes {
        /// Them, as `listIndexes` listed them.
        indexes: Vec<Document>,
    },
    /// Options of a collection, of one of its indexes, or of a view changed.
    Modify {
        /// Which: what `collMod` takes.
        description: Document,
        /// How they were: `collectionOptions` and `indexOptions`. Of views it is not told.
        before: Option<Document>,
    },
    /// The database is gone.
    DropDatabase,
    /// What was watched is no more, and the stream ends. [`Watch::start_after`](super::Watch::start_after) goes on
    /// behind it.
    Invalidate,
    /// What this library has no type for, by its name: read such events by
    /// [`with_type`](super::Watch::with_type).
    Other(String),
}

/// The kind of an operation, for filters: `|change| change.operation_type.eq(OperationType::Delete)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum OperationType {
    /// [`Operation::Insert`]
    Insert,
    /// [`Operation::Update`]
    Update,
    /// [`Operation::Replace`]
    Replace,
    /// [`Operation::Delete`]
    Delete,
    /// [`Operation::Drop`]
    Drop,
    /// [`Operation::Rename`]
    Rename,
    /// [`Operation::DropDatabase`]
    DropDatabase,
    /// [`Operation::Create`]
    Create,
    /// [`Operation::CreateIndexes`]
    CreateIndexes,
    /// [`Operation::DropIndexes`]
    DropIndexes,
    /// [`Operation::Modify`]
    Modify,
    /// [`Operation::Invalidate`]; streams end behind it whether a filter lets it pass or not.
    Invalidate,
}

impl FieldType for OperationType {
    const TYPE: TypeMeta = TypeMeta::scalar(&[BsonType::String]);
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Field<M, As> {
        Field::at_path(path)
    }
}

/// Which parts of a document an update changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateDescription {
    /// The new values, by their stored paths: `{"status": "paid", "lines.0.count": 2}`.
    pub updated_fields: Document,
    /// The paths of fields that are gone.
    pub removed_fields: Vec<String>,
    /// Arrays that got shorter.
    #[serde(default)]
    pub truncated_arrays: Vec<TruncatedArray>,
}

/// An array that got shorter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TruncatedArray {
    /// The array's path.
    pub field: String,
    /// How many elements it has left.
    pub new_size: i32,
}

/// A collection, or a database as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Namespace {
    /// The database's name.
    #[serde(rename = "db")]
    pub database: String,
    /// The collection's name; none of an [`Operation::DropDatabase`].
    #[serde(rename = "coll", default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
}

/// A place in what was written. A service that stores the token of the last event it has dealt with, and opens its next
/// stream with [`Watch::resume_after`](super::Watch::resume_after), misses nothing; it is a document to BSON, and an
/// object to JSON.
///
/// ```
/// # use odm::prelude::*;
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "orders")]
/// # struct Order { #[serde(rename = "_id")] id: i32 }
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "progress")]
/// struct Progress {
///     #[serde(rename = "_id")]
///     service: String,
///     token: ResumeToken,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// # let orders = db.collection::<Order>();
/// # orders.watch().await?;
/// # orders.insert_many([Order { id: 1 }, Order { id: 2 }]).await?;
/// let progress = db.collection::<Progress>();
/// let done = progress.get(&"billing".to_owned()).await?.map(|done| done.token);
/// let mut changes = orders.watch().resume_after(done).await?;
/// # orders.insert_one(Order { id: 3 }).await?;
/// let change = changes.next().await.expect("the collection is there")?;
/// // … deal with it …
/// progress
///     .update_one(|p| p.service.eq("billing"), |p| p.token.set(change.resume_token))
///     .upsert(true)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResumeToken(Document);

impl ResumeToken {
    pub(super) fn new(token: Document) -> Self {
        Self(token)
    }

    /// The token as the document that it is.
    pub fn into_document(self) -> Document {
        self.0
    }
}

impl FieldType for ResumeToken {
    const TYPE: TypeMeta = TypeMeta::of(Shape::Map(&TypeMeta::ANY));
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Field<M, As> {
        Field::at_path(path)
    }
}

/// Any document may be tried; a store refuses what is no token of its own.
impl From<Document> for ResumeToken {
    fn from(token: Document) -> Self {
        Self(token)
    }
}

impl<T: Watched> Change<T> {
    /// The `_id` of the document that was inserted, changed or deleted.
    pub fn id(&self) -> Option<&T::Key> {
        self.operation.id()
    }

    /// The document as the event tells it.
    pub fn full_document(&self) -> Option<&T> {
        self.operation.full_document()
    }

    /// The document as it was before, if the event tells it.
    pub fn full_document_before_change(&self) -> Option<&T> {
        self.operation.full_document_before_change()
    }
}

// A derive would ask nothing of the key.
impl<T: Watched + fmt::Debug> fmt::Debug for Change<T>
where
    T::Key: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Change")
            .field("operation", &self.operation)
            .field("resume_token", &self.resume_token)
            .field("namespace", &self.namespace)
            .field("collection_uuid", &self.collection_uuid)
            .field("cluster_time", &self.cluster_time)
            .field("wall_time", &self.wall_time)
            .field("lsid", &self.lsid)
            .field("txn_number", &self.txn_number)
            .finish()
    }
}

impl<T: Watched> Operation<T> {
    /// The `_id` of the document that was inserted, changed or deleted.
    pub fn id(&self) -> Option<&T::Key> {
        match self {
            Self::Insert { id, .. }
            | Self::Update { id, .. }
            | Self::Replace { id, .. }
            | Self::Delete { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The document as the event tells it.
    pub fn full_document(&self) -> Option<&T> {
        match self {
            Self::Insert { full_document, .. } | Self::Replace { full_document, .. } => {
                Some(full_document)
            }
            Self::Update { full_document, .. } => full_document.as_ref(),
            _ => None,
        }
    }

    /// The document as it was before, if the event tells it.
    pub fn full_document_before_change(&self) -> Option<&T> {
        match self {
            Self::Update {
                full_document_before_change,
                ..
            }
            | Self::Replace {
                full_document_before_change,
                ..
            }
            | Self::Delete {
                full_document_before_change,
                ..
            } => full_document_before_change.as_ref(),
            _ => None,
        }
    }
}

impl Change<Document> {
    /// The event as one of the model `M`: `None` where it is of another collection, or of none.
    ///
    /// # Errors
    ///
    /// [`is_decode`](crate::Error::is_decode): its document does not fit the model.
    pub fn of<M: Model>(&self) -> Result<Option<Change<M>>> {
        let namespace = self.namespace.as_ref();
        let collection = namespace.and_then(|namespace| namespace.collection.as_deref());
        if collection != Some(M::model().collection) {
            return Ok(None);
        }
        read::retyped(self).map(Some)
    }
}
