//! The results of write actions.

use bson::Bson;

use crate::model::Document;
use crate::store::Written;

/// The result of `insert_one`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertOneResult<I> {
    /// The `_id` of the new document.
    pub inserted_id: I,
}

/// The result of `insert_many`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertManyResult<I> {
    /// The `_id`s of the new documents, in the order given.
    pub inserted_ids: Vec<I>,
}

/// The result of an update or a replacement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UpdateResult<I = Bson> {
    /// How many documents the filter matched.
    pub matched: u64,
    /// How many matched documents changed. Documents that already had the new values do not count.
    pub modified: u64,
    /// The `_id` of the document that an upsert inserted.
    pub upserted_id: Option<I>,
}

/// The result of a delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteResult {
    /// How many documents were deleted.
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
