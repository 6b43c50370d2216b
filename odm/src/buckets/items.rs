//! Reads of items, in their order.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bson::doc;
use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::interval::{Interval, units};
use super::key::BucketKey;
use super::model::BucketModel;
use crate::collection::{Collection, decode};
use crate::error::{Error, Result};
use crate::exec::StoredPath;
use crate::model::bucket::BucketShape;
use crate::store::{Operation, RawCursor, Session};

/// A read of items, about to run: [`Buckets::items`](super::Buckets::items). Awaiting it opens a stream, and [`all`](Self::all)
/// collects it.
#[must_use = "nothing is read until it is awaited"]
pub struct FindItems<'s, M: BucketModel> {
    collection: Collection<M>,
    key: Result<BucketKey>,
    interval: Result<Interval>,
    newest_first: bool,
    limit: u64,
    session: Option<&'s mut Session>,
}

impl<'s, M: BucketModel> FindItems<'s, M> {
    pub(super) fn new(collection: Collection<M>, key: &M::Key) -> Self {
        Self {
            collection,
            key: BucketKey::new::<M>(key),
            interval: Ok(Interval::default()),
            newest_first: false,
            limit: 0,
            session: None,
        }
    }

    /// Reads the items in this range alone, of the buckets whose spans overlap it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(10, 00, 1.0), reading(10, 30, 2.0), reading(11, 00, 3.0)]).await?;
    /// let items = hours.items("s1").range(at(10, 30)..at(11, 00)).all().await?;
    /// assert_eq!(items, [reading(10, 30, 2.0)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn range(self, range: impl RangeBounds<M::Time>) -> Self {
        Self {
            interval: Interval::new::<M>(&range),
            ..self
        }
    }

    /// Reads the items from the last one to the first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(10, 00, 1.0), reading(11, 00, 3.0)]).await?;
    /// let last = hours.items("s1").newest_first().limit(1).all().await?;
    /// assert_eq!(last, [reading(11, 00, 3.0)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn newest_first(self) -> Self {
        Self {
            newest_first: true,
            ..self
        }
    }

    /// Reads at most this many items, and no further buckets; 0 means no limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(10, 00, 1.0), reading(11, 00, 3.0)]).await?;
    /// assert_eq!(hours.items("s1").limit(1).all().await?, [reading(10, 00, 1.0)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Runs in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// let mut session = db.start_session().await?;
    /// assert!(hours.items("s1").session(&mut session).all().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(self, session: &'s mut Session) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }

    /// Reads all items into a vector.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_one("s1", reading(10, 00, 1.0)).await?;
    /// assert_eq!(hours.items("s1").all().await?, [reading(10, 00, 1.0)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The first item that can't be read ([`Error::is_decode`](crate::Error::is_decode)); the stream goes on behind it.
    pub async fn all(self) -> Result<Vec<M::Item>> {
        let mut cursor = self.await?;
        let mut all = Vec::new();
        while let Some(item) = cursor.next().await {
            all.push(item?);
        }
        Ok(all)
    }

    async fn open(self) -> Result<ItemCursor<'s, M::Item>> {
        let (key, interval) = (self.key?, self.interval?);
        let meta = key.shape.meta;
        let find = Operation::Find {
            filter: key.overlapping(&interval).into(),
            one: false,
        };
        let mut call = self.collection.call(find);
        let direction = if self.newest_first { -1 } else { 1 };
        let options = call.options();
        options.sort = Some(doc! {meta.start: direction});
        options.projection = Some(doc! {meta.start: 1, meta.items: 1});
        call.session = self.session;
        let raw = call.send().await?.cursor()?;
        Ok(ItemCursor {
            raw: Some(raw),
            order: Items {
                shape: key.shape,
                time: StoredPath::at(&key.shape.time),
                interval,
                newest_first: self.newest_first,
                waiting: Vec::new(),
                ready: VecDeque::new(),
            },
            left: (self.limit > 0).then_some(self.limit),
            of: PhantomData,
        })
    }
}

impl<'s, M: BucketModel> IntoFuture for FindItems<'s, M> {
    type Output = Result<ItemCursor<'s, M::Item>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl<M: BucketModel> fmt::Debug for FindItems<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindItems")
            .field("interval", &self.interval)
            .field("newest_first", &self.newest_first)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// The items of buckets in their order, fetched a batch of buckets at a time: a [`Stream`] of `Result<T>`.
///
/// It keeps the items of one span in memory, of which several buckets may have some. An item that does not fit `T` is one `Err`;
/// the stream goes on with the next.
#[must_use = "a cursor fetches nothing until it is polled"]
pub struct ItemCursor<'s, T> {
    /// `None` after the last bucket.
    raw: Option<RawCursor<'s>>,
    order: Items,
    /// How many items may still be returned.
    left: Option<u64>,
    of: PhantomData<fn() -> T>,
}

/// Puts the items of buckets in order.
struct Items {
    shape: &'static BucketShape,
    time: StoredPath,
    interval: Interval,
    newest_first: bool,
    /// Items that a further bucket may precede.
    waiting: Vec<Placed>,
    ready: VecDeque<RawDocumentBuf>,
}

/// An item and its place.
struct Placed {
    units: Option<i64>,
    bucket: Option<ObjectId>,
    position: usize,
    item: RawDocumentBuf,
}

impl Placed {
    fn compare(&self, other: &Self) -> Ordering {
        let place = |one: &Self| (one.units, one.bucket.map(|id| id.bytes()), one.position);
        place(self).cmp(&place(other))
    }
}

impl Items {
    /// Adds the items of the next bucket; an error is about one of them, and the others are added.
    fn add(&mut self, bucket: &RawDocument) -> Result<()> {
        let start = bucket.get(self.shape.meta.start).ok().flatten();
        if let Some(start) = start.and_then(units) {
            self.release(Some(start));
        }
        let id = match bucket.get("_id") {
            Ok(Some(RawBsonRef::ObjectId(id))) => Some(id),
            _ => None,
        };
        // Another program may have stored something else than a list.
        let Ok(Some(RawBsonRef::Array(items))) = bucket.get(self.shape.meta.items) else {
            return Ok(());
        };
        let mut result = Ok(());
        for (position, item) in items.into_iter().enumerate() {
            let Some(item) = item.map_err(Error::encode)?.as_document() else {
                let message =
                    "the list has an element that is no document: repair it, or remove it";
                result = Err(Error::usage(message).with_path(self.shape.meta.items));
                continue;
            };
            let units = self.time.value(item).and_then(units);
            if self.interval.has(units) {
                self.waiting.push(Placed {
                    units,
                    bucket: id,
                    position,
                    item: item.to_owned(),
                });
            }
        }
        result
    }

    /// Moves items to the ready ones that no bucket with this start, or behind it, can precede; all without a start.
    fn release(&mut self, start: Option<i64>) {
        if self.waiting.is_empty() {
            return;
        }
        self.waiting.sort_by(Placed::compare);
        let waits = |item: &Placed| match start {
            None => false,
            Some(start) if self.newest_first => {
                let end = start.saturating_add(self.shape.meta.span);
                item.units.is_none_or(|units| units < end)
            }
            Some(start) => item.units.is_some_and(|units| units >= start),
        };
        if self.newest_first {
            let at = self.waiting.partition_point(waits);
            let ready = self.waiting.split_off(at);
            self.ready
                .extend(ready.into_iter().rev().map(|one| one.item));
        } else {
            let at = self.waiting.partition_point(|item| !waits(item));
            let waiting = self.waiting.split_off(at);
            let ready = std::mem::replace(&mut self.waiting, waiting);
            self.ready.extend(ready.into_iter().map(|one| one.item));
        }
    }
}

impl<T: DeserializeOwned> ItemCursor<'_, T> {
    /// Returns the next item, or `None` after the last.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_one("s1", reading(10, 00, 1.0)).await?;
    /// let mut items = hours.items("s1").await?;
    /// assert_eq!(items.next().await.ok_or("no reading")??, reading(10, 00, 1.0));
    /// assert!(items.next().await.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Result<T>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<T: DeserializeOwned> Stream for ItemCursor<'_, T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let model = (this.order.shape.meta.item)().name;
        loop {
            if this.left == Some(0) {
                this.raw = None;
                return Poll::Ready(None);
            }
            if let Some(item) = this.order.ready.pop_front() {
                if let Some(left) = &mut this.left {
                    *left -= 1;
                }
                return Poll::Ready(Some(decode(&item, model)));
            }
            let Some(raw) = &mut this.raw else {
                return Poll::Ready(None);
            };
            match ready!(raw.poll_next(cx)) {
                Some(Ok(bucket)) => {
                    if let Err(error) = this.order.add(bucket) {
                        return Poll::Ready(Some(Err(error.with_model(model))));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error.with_model(model)))),
                None => {
                    this.raw = None;
                    this.order.release(None);
                }
            }
        }
    }
}

impl<T> fmt::Debug for ItemCursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemCursor({:?})", self.raw)
    }
}
