//! Changes of elements, wherever they are stored.

use std::fmt;

use bson::{Bson, doc};

use super::model::OverflowModel;
use super::push::Follows;
use crate::collection::{Collection, UpdateResult, check_dependents};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::model::overflow::OverflowMeta;
use crate::query::{Filter, FromRaw};
use crate::update::Update;
use crate::write::{Atomic, WriteSeveral};

/// A change of elements, about to be sent: [`Overflow::update`](super::Overflow::update).
///
/// [Without a transaction](Atomic::non_atomic), the document is written before its overflow documents; if a later command fails, the
/// same call completes a removal.
pub type UpdateItems<'s, M> = Atomic<'s, ItemsUpdate<M>>;

/// The result of a change of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UpdateItemsResult {
    /// How many documents have the `_id`: 0 or 1. If none has, nothing is written.
    pub matched: u64,
    /// How many documents were modified: the document with the `_id` and its overflow documents.
    pub modified: u64,
    /// How many overflow documents were deleted because they had no element left.
    pub deleted: u64,
}

/// The writes of an [`UpdateItems`].
pub struct ItemsUpdate<M: OverflowModel> {
    collection: Collection<M>,
    meta: &'static OverflowMeta,
    /// The `_id` of the document whose list is changed.
    id: Bson,
    change: Update<M>,
    /// Whether a change of the list has consequences in other documents.
    follows: Follows,
}

impl<M: OverflowModel> ItemsUpdate<M> {
    pub(super) fn new(collection: Collection<M>, id: Bson, change: Update<M>) -> Result<Self> {
        let meta = M::model().overflow_shape()?.meta;
        change.expect_elements_of(meta.list)?;
        Ok(Self {
            collection,
            meta,
            id,
            change,
            follows: Follows::of::<M>(meta.list)?,
        })
    }

    /// Changes the document itself.
    async fn document(&self, channel: &mut Channel<'_>) -> Result<(u64, u64)> {
        let filter = doc! {"_id": {"$eq": self.id.clone()}};
        let of = self.collection.other::<M::Of>();
        let change = self.change.clone().of_other();
        let change = of.update_one(|_| Filter::from_raw(filter), |_| change);
        let change = change.in_session(channel.session());
        let result = if self.follows.inner {
            change.propagate().await?.update
        } else {
            change.await?
        };
        counts(&result)
    }

    /// Changes the overflow documents.
    async fn overflow(&self, channel: &mut Channel<'_>) -> Result<u64> {
        let filter = doc! {self.meta.by: {"$eq": self.id.clone()}};
        let change = self.change.clone();
        let change = self
            .collection
            .update_many(|_| Filter::from_raw(filter), |_| change)
            .in_session(channel.session());
        let result = if self.follows.outer {
            change.propagate().await?.update
        } else {
            change.await?
        };
        counts(&result).map(|(_, modified)| modified)
    }

    /// Deletes the overflow documents that have no element.
    async fn delete_empty(&self, channel: &mut Channel<'_>) -> Result<u64> {
        let filter = doc! {
            self.meta.by: {"$eq": self.id.clone()},
            self.meta.list: {"$size": 0},
        };
        let delete = self.collection.delete_many(|_| Filter::from_raw(filter));
        let is_in_transaction = channel.is_in_transaction();
        let delete = delete.in_session(channel.session());
        if check_dependents(M::model(), false).is_ok() {
            return Ok(delete.await?.deleted);
        }
        let delete = delete.with_dependents();
        let deleted = if is_in_transaction {
            delete.await?
        } else {
            delete.non_atomic().await?
        };
        Ok(deleted.deleted)
    }
}

fn counts<I>(result: &UpdateResult<I>) -> Result<(u64, u64)> {
    if let Some(withheld) = result.withheld.first() {
        let message = format!("the change was withheld from a document: {withheld:?}");
        return Err(Error::usage(message));
    }
    Ok((result.matched, result.modified))
}

impl<M: OverflowModel> WriteSeveral for ItemsUpdate<M> {
    type Done = UpdateItemsResult;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.collection.channel()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<UpdateItemsResult> {
        let (matched, modified) = self.document(channel).await?;
        if matched == 0 {
            return Ok(UpdateItemsResult::default());
        }
        let modified = modified + self.overflow(channel).await?;
        let deleted = self.delete_empty(channel).await?;
        Ok(UpdateItemsResult {
            matched,
            modified,
            deleted,
        })
    }
}

impl<M: OverflowModel> fmt::Debug for ItemsUpdate<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemsUpdate(_id {})", self.id)
    }
}
