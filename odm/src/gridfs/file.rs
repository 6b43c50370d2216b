//! A model for buckets that need no metadata of their own.

use bson::oid::ObjectId;
use bson::{DateTime, Document as BsonDocument};
use serde::{Deserialize, Serialize};

use super::byte_count::ByteCount;
use odm_derive::Document;

/// A file of the bucket `fs`, with metadata of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "fs.files", gridfs)]
pub struct File {
    /// The `_id`.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// How many bytes it has.
    pub length: ByteCount,
    /// How many bytes each chunk but the last has.
    pub chunk_size: ByteCount,
    /// When the upload ended, by the clock of the machine that uploaded it.
    pub upload_date: DateTime,
    /// The name. Old programs stored none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Any further facts, as the uploading program stored them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BsonDocument>,
}
