//! DBRefs: references that name the collection, and may name the database.
//!
//! A [`Ref`] stores an id alone and is what nearly every relation needs. A [`DbRef`] stores the document
//! `{$ref: "publishers", $id: 7}`, which programs in other languages know as a DBRef. Use it to share a collection with
//! such programs, to refer to another database, or to refer to documents of several collections from one field.
//!
//! ```
//! use odm::dbref::DbRef;
//! use odm::prelude::*;
//!
//! #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
//! #[odm(collection = "publishers")]
//! struct Publisher {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     name: String,
//! }
//!
//! #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
//! #[odm(collection = "books", index(publisher))]
//! struct Book {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     publisher: DbRef<Publisher>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! # let db = Db::memory();
//! let publisher = Publisher { id: 7, name: "O'Reilly".to_owned() };
//! db.collection::<Publisher>().insert_one(&publisher).await?;
//! let books = db.collection::<Book>();
//! books.insert_one(&Book { id: 1, publisher: DbRef::to(&publisher) }).await?;
//! // {_id: 1, publisher: {$ref: "publishers", $id: 7}}
//!
//! let rows = books.find(|b| b.publisher.eq(&publisher)).join(|b| b.publisher).all().await?;
//! assert_eq!(rows[0].publisher().found(), Some(&publisher));
//! # Ok(())
//! # }
//! ```

mod any;
mod fields;
mod parts;

use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::any::AnyDbRef;
pub use self::fields::{AnyDbRefFields, DbRefFields};
use self::parts::Parts;
use super::Ref;
use crate::error::Result;
use crate::model::{Document, RefTarget};
use crate::query::{IntoValue, encode};

/// A reference to a document of `T` that names the collection: `{$ref: "publishers", $id: 7}`.
///
/// It is written with `$ref`, `$id` and, if it leads to another database, `$db`, in this order. It is read in any order, and
/// keeps the fields that it has besides. A stored reference to the collection of another model is not read.
///
/// A condition on the field compares the whole document: `eq` and `in_` find the references that are stored with exactly
/// the fields of the given one. [`DbRefFields::id`] finds them by the id alone.
///
/// ```
/// use odm::dbref::DbRef;
/// use odm::prelude::*;
/// use odm::query::fields;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "publishers")]
/// struct Publisher {
///     #[serde(rename = "_id")]
///     id: i32,
/// }
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books", index(publisher), index(publisher.id))]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     publisher: DbRef<Publisher>,
/// }
///
/// let book = fields::<Book>();
/// let filter = book.publisher.in_([DbRef::from(7), DbRef::from(8)]);
/// let whole = |id| doc! {"$ref": "publishers", "$id": id};
/// assert_eq!(filter.to_document()?, doc! {"publisher": {"$in": [whole(7), whole(8)]}});
/// assert_eq!(book.publisher.id.eq(7).to_document()?, doc! {"publisher.$id": 7});
/// # Ok::<(), odm::Error>(())
/// ```
pub struct DbRef<T: RefTarget> {
    id: T::TargetId,
    database: Option<String>,
    extra: BsonDocument,
    to: PhantomData<fn() -> T>,
}

impl<T: Document> DbRef<T> {
    /// A reference to `document`, in the database of the document that stores the reference.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let publisher = Publisher { id: 7 };
    /// assert_eq!(DbRef::to(&publisher), DbRef::from(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to(document: &T) -> Self {
        Self::from(document.id().clone())
    }

    /// A reference to the document with this id: an owned one, a borrowed one, or a `&str` for a `String`. The document need
    /// not exist.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let publisher = DbRef::<Publisher>::from(7);
    /// let stored = doc! {"$ref": "publishers", "$id": 7};
    /// assert_eq!(odm::query::encode(&publisher)?, stored.into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from(id: impl IntoValue<T::Id>) -> Self {
        Self {
            id: id.into_value(),
            database: None,
            extra: BsonDocument::new(),
            to: PhantomData,
        }
    }

    /// The same reference, into this database.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "creators")]
    /// # struct Creator { #[serde(rename = "_id")] id: i32 }
    /// let creator = DbRef::<Creator>::from(7).in_database("users");
    /// let stored = doc! {"$ref": "creators", "$id": 7, "$db": "users"};
    /// assert_eq!(odm::query::encode(&creator)?, stored.into());
    /// # Ok::<(), odm::Error>(())
    /// ```
    #[must_use]
    pub fn in_database(mut self, name: impl Into<String>) -> Self {
        self.database = Some(name.into());
        self
    }

    /// The name of the collection: `$ref`.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// assert_eq!(DbRef::<Publisher>::from(7).collection(), "publishers");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn collection(&self) -> &'static str {
        T::model().collection
    }

    /// The id of the document: `$id`.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// assert_eq!(DbRef::<Publisher>::from(7).id(), &7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn id(&self) -> &T::Id {
        &self.id
    }

    /// The id of the document.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let id: i32 = DbRef::<Publisher>::from(7).into_id();
    /// assert_eq!(id, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_id(self) -> T::Id {
        self.id
    }

    /// The name of the database, if the reference has one: `$db`.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let publisher = DbRef::<Publisher>::from(7);
    /// assert_eq!(publisher.database(), None);
    /// assert_eq!(publisher.in_database("shop").database(), Some("shop"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// The fields that the stored reference has besides `$ref`, `$id` and `$db`.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let stored = doc! {"$ref": "publishers", "$id": 7, "rank": 2};
    /// let publisher: DbRef<Publisher> = odm::bson::deserialize_from_document(stored)?;
    /// assert_eq!(publisher.extra(), &doc! {"rank": 2});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn extra(&self) -> &BsonDocument {
        &self.extra
    }

    /// Whether the reference has only `$ref` and `$id`, so that `eq` finds it by the id of the document.
    ///
    /// ```
    /// # use odm::dbref::DbRef;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let publisher = DbRef::<Publisher>::from(7);
    /// assert!(publisher.is_canonical());
    /// assert!(!publisher.in_database("shop").is_canonical());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_canonical(&self) -> bool {
        self.database.is_none() && self.extra.is_empty()
    }

    /// The reference without the type of its document.
    ///
    /// ```
    /// # use odm::dbref::{AnyDbRef, DbRef};
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let publisher = DbRef::<Publisher>::from(7);
    /// assert_eq!(publisher.to_any()?, AnyDbRef::new("publishers", 7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The id does not serialize.
    pub fn to_any(&self) -> Result<AnyDbRef> {
        let mut any = AnyDbRef::new(self.collection(), encode(&self.id)?);
        any.set_rest(self.database.clone(), self.extra.clone());
        Ok(any)
    }
}

// Implemented by hand, because derives would put bounds on `T` that only its id needs.
impl<T: RefTarget<TargetId: Clone>> Clone for DbRef<T> {
    fn clone(&self) -> Self {
        Self {
            id: self.id.clone(),
            database: self.database.clone(),
            extra: self.extra.clone(),
            to: PhantomData,
        }
    }
}

impl<T: RefTarget<TargetId: PartialEq>> PartialEq for DbRef<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.database == other.database && self.extra == other.extra
    }
}

impl<T: RefTarget<TargetId: fmt::Debug>> fmt::Debug for DbRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("DbRef");
        tuple.field(&T::TARGET_COLLECTION).field(&self.id);
        if let Some(database) = &self.database {
            tuple.field(database);
        }
        if !self.extra.is_empty() {
            tuple.field(&self.extra);
        }
        tuple.finish()
    }
}

impl<T: Document> From<Ref<T>> for DbRef<T> {
    fn from(reference: Ref<T>) -> Self {
        Self::from(reference.into_id())
    }
}

impl<T: RefTarget<TargetId: Serialize>> Serialize for DbRef<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let database = self.database.as_deref();
        parts::serialize(
            serializer,
            T::TARGET_COLLECTION,
            &self.id,
            database,
            &self.extra,
        )
    }
}

impl<'de, T: RefTarget<TargetId: Deserialize<'de>>> Deserialize<'de> for DbRef<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let parts = Parts::read(deserializer, Some(T::TARGET_COLLECTION))?;
        Ok(Self {
            id: parts.id,
            database: parts.database,
            extra: parts.extra,
            to: PhantomData,
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: Document> IntoValue<DbRef<T>> for &T {
    fn into_value(self) -> DbRef<T> {
        DbRef::to(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Document> IntoValue<Option<DbRef<T>>> for &T {
    fn into_value(self) -> Option<DbRef<T>> {
        Some(DbRef::to(self))
    }
}

#[cfg(test)]
mod tests;
