//! What actions answer.

use bson::Bson;

use crate::model::Document;
use crate::store::Written;

/// What `insert_one` did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertOneResult<I> {
    /// The `_id` of the new document.
    pub inserted_id: I,
}

/// What `insert_many` did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertManyResult<I> {
    /// The `_id`s of the new documents, in the order given.
    pub inserted_ids: Vec<I>,
}

/// What an update or a replacement did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UpdateResult<I = Bson> {
    /// How many documents the filter matched.
    pub matched: u64,
    /// How many of them it changed: those that looked so already are not counted.
    pub modified: u64,
    /// The `_id` of the document that an upsert made.
    pub upserted_id: Option<I>,
}

/// What a delete did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteResult {
    /// How many documents are gone.
    pub deleted: u64,
}

impl<I> UpdateResult<I> {
    /// The counts of one statement, with the `_id` as the model types it.
    pub(crate) fn new<M: Document<Id = I>>(mut written: Written) -> crate::error::Result<Self> {
        let matched = written.matched();
        let upserted_id = match written.upserted.pop() {
            Some((_, id)) => Some(super::decode::decode_id::<M>(id)?),
            None => None,
        };
        Ok(Self {
            matched,
            modified: written.modified,
            upserted_id,
        })
    }
}
