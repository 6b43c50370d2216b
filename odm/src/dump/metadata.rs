//! The metadata beside a collection's documents: its options and its indexes.

use std::path::Path;

use bson::{Bson, Document, Uuid, doc};
use odm_engine::{Collection, View};

use crate::dump::file;
use crate::error::{Error, FileError, Result};
use crate::types::json::text as json;

/// The largest metadata file: many times what the options and 64 indexes of a collection need.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A `.metadata.json`.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// The fields of `create`.
    pub(super) options: Document,
    /// In the form of `listIndexes`.
    pub(super) indexes: Vec<Document>,
    pub(super) collection: Option<String>,
    /// Names of unknown fields, which are skipped.
    pub(super) unknown: Vec<String>,
}

impl Metadata {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let fault = |message: String| Error::new(FileError::new(path, message));
        let text = file::read(path, MAX_BYTES)?;
        // An interrupted mongodump leaves empty files, and mongorestore ignores them.
        if text.is_empty() {
            return Ok(Self::default());
        }
        let document = json::document(&text).map_err(fault)?;
        let mut metadata = Self::default();
        for (name, value) in document {
            match (name.as_str(), value) {
                ("options", Bson::Document(options)) => metadata.options = options,
                ("indexes", Bson::Array(indexes)) => {
                    for index in indexes {
                        match index {
                            Bson::Document(index) => metadata.indexes.push(index),
                            other => return Err(fault(format!("`indexes` holds {other}"))),
                        }
                    }
                }
                ("collectionName", Bson::String(collection)) => {
                    metadata.collection = Some(collection);
                }
                // Ignored: the options show whether it is a view, and a new collection gets a UUID of its
                // own.
                ("type" | "uuid", Bson::String(_)) | ("options" | "indexes", Bson::Null) => {}
                ("options" | "indexes" | "collectionName" | "type" | "uuid", other) => {
                    return Err(fault(format!("`{name}` can't be {other}")));
                }
                _ => metadata.unknown.push(name),
            }
        }
        // Very old dumps also name the collection in its options.
        metadata.options.remove("create");
        let has_id_index = metadata.indexes.iter().any(is_id);
        if has_id_index {
            metadata.options.remove("autoIndexId");
        }
        metadata.indexes.retain(|index| !is_id(index));
        Ok(metadata)
    }

    pub(super) fn is_view(&self) -> bool {
        self.options.contains_key("viewOn")
    }
}

/// Whether this is the index on `_id`, which every collection has.
fn is_id(index: &Document) -> bool {
    let key = index.get_document("key");
    key.is_ok_and(|key| {
        let one = match key.get("_id") {
            Some(Bson::Int32(1) | Bson::Int64(1)) => true,
            Some(Bson::Double(direction)) => (*direction - 1.0).abs() < f64::EPSILON,
            _ => false,
        };
        one && key.len() == 1
    })
}

/// The text of a collection's metadata.
pub(super) fn of_collection(collection: &Collection) -> String {
    let indexes: Vec<Bson> = collection
        .indexes()
        .map(|index| index.clone().into())
        .collect();
    let uuid = Uuid::from_bytes(collection.uuid()).to_string();
    json::to_text(&doc! {
        "options": collection.options().clone(),
        "indexes": indexes,
        "uuid": uuid.replace('-', ""),
        "collectionName": &*collection.namespace.collection,
        "type": "collection",
    })
}

/// The text of a view's metadata.
pub(super) fn of_view(view: &View) -> Result<String> {
    Ok(json::to_text(&doc! {
        "options": view.options()?,
        "indexes": [],
        "collectionName": &*view.namespace.collection,
        "type": "view",
    }))
}
