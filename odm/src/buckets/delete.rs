//! Deletes of items.

use std::fmt;
use std::future::IntoFuture;
use std::ops::RangeBounds;

use bson::{Document, doc};
use futures_core::future::BoxFuture;

use super::computed;
use super::interval::Interval;
use super::key::BucketKey;
use super::model::BucketModel;
use crate::collection::Collection;
use crate::error::Result;
use crate::query::{Filter, FromRaw};
use crate::store::Session;
use crate::update::{Update, maintain};

/// A delete of items, about to run: [`Buckets::delete`](super::Buckets::delete).
#[must_use = "nothing is deleted until it is awaited"]
pub struct DeleteItems<'s, M: BucketModel> {
    collection: Collection<M>,
    key: Result<BucketKey>,
    interval: Result<Interval>,
    session: Option<&'s mut Session>,
}

/// The result of a delete of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DeleteItemsResult {
    /// How many buckets were deleted, because they had no other items.
    pub deleted: u64,
    /// How many buckets lost some of their items.
    pub trimmed: u64,
}

impl<'s, M: BucketModel> DeleteItems<'s, M> {
    pub(super) fn new(
        collection: Collection<M>,
        key: &M::Key,
        range: &impl RangeBounds<M::Time>,
    ) -> Self {
        Self {
            collection,
            key: BucketKey::new::<M>(key),
            interval: Interval::new::<M>(range),
            session: None,
        }
    }

    /// Runs in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_one("s1", reading(10, 00, 19.5)).await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// hours.delete("s1", ..).session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert_eq!(hours.items("s1").all().await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(self, session: &'s mut Session) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }

    async fn run(mut self) -> Result<DeleteItemsResult> {
        let (key, interval) = (self.key?, self.interval?);
        let mut result = DeleteItemsResult::default();
        let collection = &self.collection;
        let without_others = without_others(&key, &interval);
        // An insert between two commands may add items to a bucket, and a delete may remove them: no bucket is left empty.
        let mut session = self.session.take();
        result.deleted += delete(collection, &without_others, session.as_deref_mut()).await?;
        if interval.is_all() {
            return Ok(result);
        }
        let (filter, pipeline) = (with_others(&key, &interval), trim::<M>(&key, &interval));
        let mut call =
            collection.update_many(|_| Filter::from_raw(filter), |_| Update::pipeline(pipeline));
        if let Some(session) = session.as_deref_mut() {
            call = call.session(session);
        }
        result.trimmed = call.await?.modified;
        result.deleted += delete(collection, &without_others, session).await?;
        Ok(result)
    }
}

async fn delete<M: BucketModel>(
    collection: &Collection<M>,
    filter: &Document,
    session: Option<&mut Session>,
) -> Result<u64> {
    let mut call = collection.delete_many(|_| Filter::from_raw(filter.clone()));
    if let Some(session) = session {
        call = call.session(session);
    }
    Ok(call.await?.deleted)
}

/// An element outside of the interval: an item without a point is one, too.
fn outside(key: &BucketKey, interval: &Interval) -> Document {
    doc! {"$elemMatch": {key.shape.time.as_str(): {"$not": interval.operators()}}}
}

/// The buckets that have items in the interval and no others.
fn without_others(key: &BucketKey, interval: &Interval) -> Document {
    let mut filter = key.overlapping(interval);
    if !interval.is_all() {
        let inside = doc! {"$elemMatch": {key.shape.time.as_str(): interval.operators()}};
        let items = key.shape.meta.items;
        filter.insert(
            "$and",
            vec![
                doc! {items: inside},
                doc! {items: {"$not": outside(key, interval)}},
            ],
        );
    }
    filter
}

/// The buckets that have items in the interval and others.
fn with_others(key: &BucketKey, interval: &Interval) -> Document {
    let mut filter = key.overlapping(interval);
    let items = key.shape.meta.items;
    let inside = doc! {"$elemMatch": {key.shape.time.as_str(): interval.operators()}};
    filter.insert(
        "$and",
        vec![doc! {items: inside}, doc! {items: outside(key, interval)}],
    );
    filter
}

/// Removes the items in the interval, and computes what is kept of the others.
fn trim<M: BucketModel>(key: &BucketKey, interval: &Interval) -> Vec<Document> {
    let shape = key.shape;
    let within = computed::is_within(shape, interval);
    let items = computed::items(shape);
    let kept = doc! {"$filter": {"input": items, "as": "item", "cond": {"$not": [within]}}};
    let mut stages = vec![
        doc! {"$set": {shape.meta.items: kept}},
        computed::stage(shape),
    ];
    stages.extend(maintain::stage(&maintain::fields(M::model())));
    stages
}

impl<'s, M: BucketModel> IntoFuture for DeleteItems<'s, M> {
    type Output = Result<DeleteItemsResult>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: BucketModel> fmt::Debug for DeleteItems<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeleteItems")
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}
