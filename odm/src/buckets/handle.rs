//! The buckets of a model.

use std::fmt;
use std::ops::RangeBounds;

use super::delete::DeleteItems;
use super::insert::InsertItems;
use super::items::FindItems;
use super::model::BucketModel;
use super::summary::Summarize;
use crate::collection::{Collection, Db};

/// The buckets of a model: [`Db::buckets`], or [`Collection::buckets`] for a handle with its own concerns.
///
/// Insert items by this handle alone: it adds to a bucket what is kept of its items in the same atomic update. `sync` creates the
/// index by which buckets are found.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let db = Db::memory();
/// let hours = db.buckets::<Hour>();
/// hours.insert_one("s1", reading(10, 00, 19.5)).await?;
/// hours.insert_many("s1", [reading(10, 20, 20.5), reading(11, 10, 21.0)]).await?;
///
/// let morning = hours.items("s1").range(at(10, 10)..at(12, 00)).all().await?;
/// assert_eq!(morning.len(), 2);
///
/// let summary = hours.summary("s1").range(at(10, 00)..at(11, 00)).await?;
/// assert_eq!((summary.count, summary.get(|h| h.warmest)?), (2, Some(20.5)));
/// # Ok(())
/// # }
/// ```
pub struct Buckets<M> {
    pub(super) collection: Collection<M>,
}

impl<M> Clone for Buckets<M> {
    fn clone(&self) -> Self {
        Self {
            collection: self.collection.clone(),
        }
    }
}

impl<M: BucketModel> fmt::Debug for Buckets<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buckets")
            .field(&self.collection.name())
            .finish()
    }
}

impl Db {
    /// The buckets of a model, to insert and read their items.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_one("s1", reading(10, 00, 19.5)).await?;
    /// assert_eq!(hours.items("s1").all().await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn buckets<M: BucketModel>(&self) -> Buckets<M> {
        self.collection().buckets()
    }
}

impl<M: BucketModel> Collection<M> {
    /// The buckets of this collection, with the concerns of this handle.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// use odm::collection::WriteConcern;
    ///
    /// let majority = db.collection::<Hour>().with_write_concern(WriteConcern::majority());
    /// majority.buckets().insert_one("s1", reading(10, 00, 19.5)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buckets(&self) -> Buckets<M> {
        Buckets {
            collection: self.clone(),
        }
    }
}

impl<M: BucketModel> Buckets<M> {
    /// The documents of the buckets, for typed finds, counts and joins.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_one("s1", reading(10, 00, 31.5)).await?;
    /// let hot = hours.collection().find(|h| h.warmest.gt(30.0)).all().await?;
    /// assert_eq!(hot[0].count, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn collection(&self) -> Collection<M> {
        self.collection.clone()
    }

    /// Inserts an item: into a bucket with this key that has room for it, or into a new one.
    ///
    /// One upsert adds the item, counts it, and changes what is kept of the items, all in one atomic write. Two writers never
    /// overfill a bucket; at the start of a span they may open one each, which later inserts fill.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// let first = hours.insert_one("s1", reading(10, 00, 19.5)).await?;
    /// assert_eq!(first.opened.len(), 1);
    /// let second = hours.insert_one("s1", reading(10, 20, 20.5)).await?;
    /// assert!(second.opened.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_one<'s>(
        &self,
        key: impl Into<M::Key>,
        item: impl std::borrow::Borrow<M::Item>,
    ) -> InsertItems<'s, M> {
        self.insert_many(key, [item])
    }

    /// Inserts items with one key, in any order: those of one span go into as few buckets as possible.
    ///
    /// The rooms of the buckets are read first; the items then go out as one command, or as few as its limits allow. What several
    /// writers do meanwhile never overfills a bucket.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// let minutes = (0..60).map(|minute| reading(10, minute, 19.5));
    /// let result = hours.insert_many("s1", minutes).await?;
    /// // A bucket of this model holds 25 readings.
    /// assert_eq!((result.inserted, result.opened.len()), (60, 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_many<'s, I: std::borrow::Borrow<M::Item>>(
        &self,
        key: impl Into<M::Key>,
        items: impl IntoIterator<Item = I>,
    ) -> InsertItems<'s, M> {
        InsertItems::of_one(self.collection.clone(), &key.into(), items)
    }

    /// Inserts items with different keys.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// let both = [("s1", reading(10, 00, 19.5)), ("s2", reading(10, 00, 4.0))];
    /// assert_eq!(hours.insert_all(both).await?.opened.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_all<'s, K: Into<M::Key>, I: std::borrow::Borrow<M::Item>>(
        &self,
        items: impl IntoIterator<Item = (K, I)>,
    ) -> InsertItems<'s, M> {
        InsertItems::of_several(self.collection.clone(), items)
    }

    /// Reads the items with this key in their order, of the buckets that may have any.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(11, 10, 21.0), reading(10, 20, 20.5)]).await?;
    /// let mut items = hours.items("s1").range(at(10, 00)..).await?;
    /// while let Some(reading) = items.next().await {
    ///     println!("{:?}", reading?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn items<'s>(&self, key: impl Into<M::Key>) -> FindItems<'s, M> {
        FindItems::new(self.collection.clone(), &key.into())
    }

    /// Computes the number of items with this key and what is kept of them, of all or of those in a range.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(11, 10, 21.0), reading(10, 20, 20.0)]).await?;
    /// let summary = hours.summary("s1").await?;
    /// assert_eq!((summary.count, summary.get(|h| h.celsius)?), (2, Some(41.0)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn summary<'s>(&self, key: impl Into<M::Key>) -> Summarize<'s, M> {
        Summarize::new(self.collection.clone(), &key.into())
    }

    /// Deletes the items with this key in a range; `..` stands for all of them.
    ///
    /// Buckets without other items are deleted; of the others, what is kept of the items is computed anew, in the same atomic
    /// update that removes the items. The buckets are written one after the other: run it in a transaction if readers must not see
    /// some of the items without the others.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(9, 10, 21.0), reading(10, 20, 20.0), reading(10, 40, 22.0)]).await?;
    /// let result = hours.delete("s1", ..at(10, 30)).await?;
    /// assert_eq!((result.deleted, result.trimmed), (1, 1));
    /// assert_eq!(hours.summary("s1").await?.get(|h| h.coldest)?, Some(22.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete<'s>(
        &self,
        key: impl Into<M::Key>,
        range: impl RangeBounds<M::Time>,
    ) -> DeleteItems<'s, M> {
        DeleteItems::new(self.collection.clone(), &key.into(), &range)
    }
}
