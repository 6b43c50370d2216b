//! [`AnyDbRef`]: a DBRef to a document of any collection.

use bson::{Bson, Document as BsonDocument};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::DbRef;
use super::parts::{self, Parts};
use crate::error::{Error, Result};
use crate::model::Document;

/// A DBRef whose collection is known only at run time.
///
/// [`typed`](Self::typed) makes a [`DbRef`] of it, once the program knows the model. For a field that refers to one of a
/// few models, an untagged enum with a [`DbRef`] in each variant is more exact.
///
/// ```
/// use odm::dbref::{AnyDbRef, DbRef};
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "publishers")]
/// struct Publisher {
///     #[serde(rename = "_id")]
///     id: i32,
/// }
///
/// let about = AnyDbRef::new("publishers", 7);
/// assert_eq!(about.collection(), "publishers");
/// assert!(about.is_to::<Publisher>());
/// assert_eq!(*about.typed::<Publisher>()?.id(), 7);
/// assert_eq!(DbRef::<Publisher>::from(7).to_any()?, about);
/// # Ok::<(), odm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AnyDbRef {
    collection: String,
    id: Bson,
    database: Option<String>,
    extra: BsonDocument,
}

impl AnyDbRef {
    /// A reference to the document with this id in this collection.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// let publisher = AnyDbRef::new("publishers", 7);
    /// assert_eq!(publisher.collection(), "publishers");
    /// ```
    pub fn new(collection: impl Into<String>, id: impl Into<Bson>) -> Self {
        Self {
            collection: collection.into(),
            id: id.into(),
            database: None,
            extra: BsonDocument::new(),
        }
    }

    pub(super) fn set_rest(&mut self, database: Option<String>, extra: BsonDocument) {
        self.database = database;
        self.extra = extra;
    }

    /// The same reference, into this database.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// let publisher = AnyDbRef::new("publishers", 7).in_database("shop");
    /// assert_eq!(publisher.database(), Some("shop"));
    /// ```
    #[must_use]
    pub fn in_database(mut self, name: impl Into<String>) -> Self {
        self.database = Some(name.into());
        self
    }

    /// The name of the collection: `$ref`.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// assert_eq!(AnyDbRef::new("publishers", 7).collection(), "publishers");
    /// ```
    pub fn collection(&self) -> &str {
        &self.collection
    }

    /// The id of the document: `$id`.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// assert_eq!(AnyDbRef::new("publishers", 7).id().as_i32(), Some(7));
    /// ```
    pub fn id(&self) -> &Bson {
        &self.id
    }

    /// The name of the database, if the reference has one: `$db`.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// assert_eq!(AnyDbRef::new("publishers", 7).database(), None);
    /// ```
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// The fields that the stored reference has besides `$ref`, `$id` and `$db`.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// assert!(AnyDbRef::new("publishers", 7).extra().is_empty());
    /// ```
    pub fn extra(&self) -> &BsonDocument {
        &self.extra
    }

    /// Whether the reference has only `$ref` and `$id`.
    ///
    /// ```
    /// # use odm::dbref::AnyDbRef;
    /// assert!(AnyDbRef::new("publishers", 7).is_canonical());
    /// ```
    pub fn is_canonical(&self) -> bool {
        self.database.is_none() && self.extra.is_empty()
    }

    /// Whether the reference leads to the collection of `T`.
    ///
    /// ```
    /// # use odm::dbref::{AnyDbRef, DbRef};
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// assert!(AnyDbRef::new("publishers", 7).is_to::<Publisher>());
    /// assert!(!AnyDbRef::new("films", 7).is_to::<Publisher>());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_to<T: Document>(&self) -> bool {
        self.collection == T::model().collection
    }

    /// The reference to a document of `T`.
    ///
    /// ```
    /// # use odm::dbref::{AnyDbRef, DbRef};
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// let publisher = AnyDbRef::new("publishers", 7).typed::<Publisher>()?;
    /// assert_eq!(publisher, DbRef::from(7));
    /// assert!(AnyDbRef::new("films", 7).typed::<Publisher>().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The reference leads to another collection, or its id is not one of `T`.
    pub fn typed<T: Document>(&self) -> Result<DbRef<T>> {
        let model = T::model();
        if !self.is_to::<T>() {
            let message = parts::another_collection(&self.collection, model.collection);
            return Err(Error::usage(message).with_model(model.name));
        }
        let id = bson::deserialize_from_bson(self.id.clone());
        let id: T::Id = id.map_err(|error| {
            let message = format!("the `$id` of the DBRef is not an id of this model: {error}");
            Error::usage(message).with_model(model.name)
        })?;
        let mut typed = DbRef::from(id);
        typed.database.clone_from(&self.database);
        typed.extra.clone_from(&self.extra);
        Ok(typed)
    }
}

impl Serialize for AnyDbRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let database = self.database.as_deref();
        parts::serialize(
            serializer,
            &self.collection,
            &self.id,
            database,
            &self.extra,
        )
    }
}

impl<'de> Deserialize<'de> for AnyDbRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let parts = Parts::read(deserializer, None)?;
        Ok(Self {
            collection: parts.collection,
            id: parts.id,
            database: parts.database,
            extra: parts.extra,
        })
    }
}
