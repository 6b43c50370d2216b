//! Change events and their parts.

use std::fmt;

use bson::{DateTime, Document, Timestamp, Uuid};
use serde::{Deserialize, Serialize};

use super::read::{self, Watched};
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::model::{BsonType, Document as Model, FieldType, Path, Shape, TypeMeta};
use crate::query::Field;

/// One event of a [`ChangeStream`](super::ChangeStream): the operation, the document of model `T` that it changed, and
/// the time. In streams over several models, `T` is `bson::Document`.
#[derive(Clone)]
#[non_exhaustive]
pub struct Change<T: Watched> {
    /// The operation, with the `_id` and the contents of the changed document.
    pub operation: Operation<T>,
    /// Resumes a stream after this event: [`Watch::resume_after`](super::Watch::resume_after).
    pub resume_token: ResumeToken,
    /// The database and the collection that changed; `None` for [`Operation::Invalidate`].
    pub namespace: Option<Namespace>,
    /// The collection's UUID, if [`show_expanded_events`](super::Watch::show_expanded_events) is set.
    pub collection_uuid: Option<Uuid>,
    /// The cluster time of the operation. All events of one transaction have the same cluster time.
    pub cluster_time: Timestamp,
    /// The server's wall clock at the time of the operation; `None` before MongoDB 6.0.
    pub wall_time: Option<DateTime>,
    /// The session of the transaction, if the operation was part of one.
    pub lsid: Option<Document>,
    /// The number of that transaction in its session.
    pub txn_number: Option<i64>,
}

/// The operation that caused an event. `T::Key` is the type of the model's `_id`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operation<T: Watched> {
    /// A document was inserted.
    Insert {
        /// Its `_id`.
        id: T::Key,
        /// The document.
        full_document: T,
    },
    /// Some fields of a document changed.
    Update {
        /// Its `_id`.
        id: T::Key,
        /// The changed fields.
        update_description: UpdateDescription,
        /// The document, if [`Watch::full_document`](super::Watch::full_document) requested it and it is available.
        full_document: Option<T>,
        /// The document before the update, if
        /// [`Watch::full_document_before_change`](super::Watch::full_document_before_change) requested it and the
        /// collection stores pre-images.
        full_document_before_change: Option<T>,
    },
    /// A document was replaced by another.
    Replace {
        /// The `_id`, which both documents share.
        id: T::Key,
        /// The new document.
        full_document: T,
        /// The replaced document, if it was requested and the collection stores pre-images.
        full_document_before_change: Option<T>,
    },
    /// A document was deleted.
    Delete {
        /// Its `_id`.
        id: T::Key,
        /// The deleted document, if it was requested and the collection stores pre-images.
        full_document_before_change: Option<T>,
    },
    /// The collection was dropped.
    Drop,
    /// The collection was renamed.
    Rename {
        /// The new name.
        to: Namespace,
        /// The UUID of the collection that the rename replaced, if there was one and
        /// [`show_expanded_events`](super::Watch::show_expanded_events) is set.
        replaced: Option<Uuid>,
    },
    /// A collection or a view was created. Streams return this and the next three operations only if
    /// [`show_expanded_events`](super::Watch::show_expanded_events) is set.
    Create {
        /// The options that `create` took, and the index on `_id`.
        description: Document,
    },
    /// Indexes were created.
    CreateIndexes {
        /// The indexes, as `listIndexes` lists them.
        indexes: Vec<Document>,
    },
    /// Indexes were dropped.
    DropIndexes {
        /// The dropped indexes, as `listIndexes` listed them.
        indexes: Vec<Document>,
    },
    /// `collMod` changed the options of a collection, an index or a view.
    Modify {
        /// The new options, as `collMod` takes them.
        description: Document,
        /// The old options, as `collectionOptions` and `indexOptions`; `None` for views.
        before: Option<Document>,
    },
    /// The database was dropped.
    DropDatabase,
    /// The watched collection or database no longer exists, and the stream ends. To continue after this event, open a
    /// stream with [`Watch::start_after`](super::Watch::start_after).
    Invalidate,
    /// The name of an operation that this library has no variant for. Read such events with
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
    /// [`Operation::Invalidate`]; the stream ends after it even if the filter drops the event.
    Invalidate,
}

impl FieldType for OperationType {
    const TYPE: TypeMeta = TypeMeta::scalar(&[BsonType::String]);
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Field<M, As> {
        Field::at_path(path)
    }
}

/// The fields of a document that an update changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateDescription {
    /// The new values, by their stored paths: `{"status": "paid", "lines.0.count": 2}`.
    pub updated_fields: Document,
    /// The paths of removed fields.
    pub removed_fields: Vec<String>,
    /// Arrays that the update shortened.
    #[serde(default)]
    pub truncated_arrays: Vec<TruncatedArray>,
}

/// An array that an update shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TruncatedArray {
    /// The array's path.
    pub field: String,
    /// The array's new length.
    pub new_size: i32,
}

/// A collection, or a database as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Namespace {
    /// The database's name.
    #[serde(rename = "db")]
    pub database: String,
    /// The collection's name; `None` for [`Operation::DropDatabase`].
    #[serde(rename = "coll", default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
}

/// A position in a change stream. A service that stores the token of the last event it processed, and opens its next
/// stream with [`Watch::resume_after`](super::Watch::resume_after), misses no event. The token serializes as a document
/// in BSON and as an object in JSON.
///
/// ```
/// # use odm::prelude::*;
/// use odm::collection::ResumeToken;
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
/// let done = progress.get("billing").await?.map(|done| done.token);
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

    /// Returns the token's document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ResumeToken;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let changes = books.watch().await?;
    /// let token = changes.resume_token().ok_or("no token")?.into_document();
    /// assert!(token.contains_key("_data"));
    /// let changes = books.watch().resume_after(ResumeToken::from(token)).await?;
    /// # Ok(())
    /// # }
    /// ```
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

/// Accepts any document. A stream opened with a document that is not a resume token fails.
impl From<Document> for ResumeToken {
    fn from(token: Document) -> Self {
        Self(token)
    }
}

impl<T: Watched> Change<T> {
    /// The `_id` of the document that was inserted, changed or deleted.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut changes = books.watch().await?;
    /// books.delete_one(|b| b.id.eq(1)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// assert_eq!(change.id(), Some(&1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> Option<&T::Key> {
        self.operation.id()
    }

    /// The full document, if the event contains it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::FullDocument;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut changes = books.watch().full_document(FullDocument::UpdateLookup).await?;
    /// books.update_one(|b| b.id.eq(1), |b| b.year.set(1816)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// assert_eq!(change.full_document(), Some(&book(1, "Emma", 1816)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn full_document(&self) -> Option<&T> {
        self.operation.full_document()
    }

    /// The document before the change, if the event contains it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::FullDocumentBeforeChange;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # let images = doc! {"collMod": "books", "changeStreamPreAndPostImages": {"enabled": true}};
    /// # db.run_command(images).await?;
    /// // The collection stores images of its documents.
    /// let required = FullDocumentBeforeChange::Required;
    /// let mut changes = books.watch().full_document_before_change(required).await?;
    /// books.delete_one(|b| b.id.eq(1)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// assert_eq!(change.full_document_before_change(), Some(&book(1, "Emma", 1815)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn full_document_before_change(&self) -> Option<&T> {
        self.operation.full_document_before_change()
    }
}

// A derived impl would lack the bound on `T::Key`.
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
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut changes = books.watch().await?;
    /// books.update_one(|b| b.id.eq(2), |b| b.year.inc(1)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// assert_eq!(change.operation.id(), Some(&2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> Option<&T::Key> {
        match self {
            Self::Insert { id, .. }
            | Self::Update { id, .. }
            | Self::Replace { id, .. }
            | Self::Delete { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The full document, if the event contains it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut changes = books.watch().await?;
    /// books.insert_one(book(4, "Persuasion", 1817)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// assert_eq!(change.operation.full_document(), Some(&book(4, "Persuasion", 1817)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn full_document(&self) -> Option<&T> {
        match self {
            Self::Insert { full_document, .. } | Self::Replace { full_document, .. } => {
                Some(full_document)
            }
            Self::Update { full_document, .. } => full_document.as_ref(),
            _ => None,
        }
    }

    /// The document before the change, if the event contains it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::FullDocumentBeforeChange;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # let images = doc! {"collMod": "books", "changeStreamPreAndPostImages": {"enabled": true}};
    /// # db.run_command(images).await?;
    /// // The collection stores images of its documents.
    /// let required = FullDocumentBeforeChange::Required;
    /// let mut changes = books.watch().full_document_before_change(required).await?;
    /// books.update_one(|b| b.id.eq(1), |b| b.year.set(1816)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// let before = change.operation.full_document_before_change();
    /// assert_eq!(before, Some(&book(1, "Emma", 1815)));
    /// # Ok(())
    /// # }
    /// ```
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
    /// The event as one of the model `M`; `None` if it belongs to another collection or to no collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut changes = db.watch().await?;
    /// books.delete_one(|b| b.id.eq(1)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// let change = change.of::<Book>()?.ok_or("it belongs to another collection")?;
    /// assert_eq!(change.id(), Some(&1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_decode`](crate::Error::is_decode): the event's document does not fit the model.
    pub fn of<M: Model>(&self) -> Result<Option<Change<M>>> {
        self.named(M::model().collection)
    }

    /// The event as one of this collection, whose name may be [chosen at run time](crate::Db::with_collection); `None` if it
    /// belongs to another collection or to no collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let old = db.with_collection::<Book>("old_books").collection::<Book>();
    /// let mut changes = db.watch().await?;
    /// old.insert_one(book(1, "Emma", 1815)).await?;
    /// let change = changes.next().await.ok_or("the stream has ended")??;
    /// assert!(change.of_collection(&books)?.is_none());
    /// assert!(change.of_collection(&old)?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn of_collection<M: Model>(&self, collection: &Collection<M>) -> Result<Option<Change<M>>> {
        self.named(collection.name())
    }

    fn named<M: Model>(&self, name: &str) -> Result<Option<Change<M>>> {
        if let Some(of) = M::model().variant_of {
            let whole = (of.model)().name;
            return Err(Error::unsupported(format!(
                "an event about a deleted document does not say which variant it was: read events as those of `{whole}`, and \
                 match on what they hold"
            ))
            .with_model(M::model().name));
        }
        let namespace = self.namespace.as_ref();
        let collection = namespace.and_then(|namespace| namespace.collection.as_deref());
        if collection != Some(name) {
            return Ok(None);
        }
        read::retyped(self).map(Some)
    }
}
