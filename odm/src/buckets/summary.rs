//! Summaries of items, from what the buckets keep.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use futures_core::future::BoxFuture;
use odm_language::value::number::Number;

use super::computed;
use super::interval::{Interval, units};
use super::key::BucketKey;
use super::model::BucketModel;
use crate::collection::{Collection, decode_key};
use crate::error::{Error, Result};
use crate::model::bucket::{KeptField, KeptKind};
use crate::model::{BsonType, Embedded};
use crate::query::{Decode, Field, fields};
use crate::store::{Operation, Session};

/// A summary of items, about to be computed: [`Buckets::summary`](super::Buckets::summary).
#[must_use = "nothing is computed until it is awaited"]
pub struct Summarize<'s, M: BucketModel> {
    collection: Collection<M>,
    key: Result<BucketKey>,
    interval: Result<Interval>,
    session: Option<&'s mut Session>,
}

/// The number of items, and what is kept of them: the result of [`Buckets::summary`](super::Buckets::summary).
#[non_exhaustive]
pub struct BucketSummary<M> {
    /// How many items there are.
    pub count: u64,
    /// How many buckets have them.
    pub buckets: u64,
    /// The kept values, by the stored names of their fields.
    values: Document,
    of: PhantomData<fn() -> M>,
}

impl<'s, M: BucketModel> Summarize<'s, M> {
    pub(super) fn new(collection: Collection<M>, key: &M::Key) -> Self {
        Self {
            collection,
            key: BucketKey::new::<M>(key),
            interval: Ok(Interval::default()),
            session: None,
        }
    }

    /// Summarizes the items in this range alone.
    ///
    /// Of the buckets whose spans are in the range as a whole, MongoDB reads the kept values; of those at its ends, the items.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(10, 00, 1.0), reading(10, 30, 2.0), reading(11, 00, 3.0)]).await?;
    /// let summary = hours.summary("s1").range(at(10, 30)..).await?;
    /// assert_eq!((summary.count, summary.get(|h| h.coldest)?), (2, Some(2.0)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn range(self, range: impl RangeBounds<M::Time>) -> Self {
        Self {
            interval: Interval::new::<M>(&range),
            ..self
        }
    }

    /// Runs in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let mut session = db.start_session().await?;
    /// let summary = db.buckets::<Hour>().summary("s1").session(&mut session).await?;
    /// assert_eq!(summary.count, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(self, session: &'s mut Session) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }

    async fn run(self) -> Result<BucketSummary<M>> {
        let (key, interval) = (self.key?, self.interval?);
        let pipeline = pipeline(&key, &interval);
        let mut call = self.collection.call(Operation::Aggregate { pipeline });
        call.session = self.session;
        let mut cursor = call.send().await?.cursor()?;
        let group = cursor.next().await.transpose();
        let group = group.map_err(|error| error.with_model(M::model().name))?;
        let group = group.map(Document::try_from).transpose();
        let group = group.map_err(Error::encode)?.unwrap_or_default();
        BucketSummary::new(&key, &group)
    }
}

/// Groups the kept values of the buckets that overlap the interval.
fn pipeline(key: &BucketKey, interval: &Interval) -> Vec<Document> {
    let shape = key.shape;
    let meta = shape.meta;
    let matched = doc! {"$match": key.overlapping(interval)};
    let mut group = doc! {"_id": null, "buckets": {"$sum": 1}, "count": {"$sum": "$count"}};
    for (position, field) in shape.kept.iter().enumerate() {
        let operator = match field.meta.kind {
            KeptKind::Smallest => "$min",
            KeptKind::Largest => "$max",
            KeptKind::Total => "$sum",
        };
        group.insert(
            output(position),
            doc! {operator: format!("${}", output(position))},
        );
    }
    let is_whole = doc! {"$and": interval.contains_span(meta.start, meta.span)};
    let within = computed::is_within(shape, interval);
    let items = doc! {"$filter": {"input": computed::items(shape), "as": "item", "cond": within}};
    // The kept value of a whole bucket, or that of its items in the interval.
    let choose = |name: &str, computed: Bson| {
        let kept: Bson = format!("${name}").into();
        if interval.is_all() {
            return kept;
        }
        doc! {"$cond": ["$odmWhole", kept, computed]}.into()
    };
    let mut values = doc! {"count": choose(meta.count, doc! {"$size": "$odmWithin"}.into())};
    for (position, field) in shape.kept.iter().enumerate() {
        let value = choose(field.meta.name, computed::kept(field, "$odmWithin"));
        values.insert(output(position), value);
    }
    let mut stages = vec![matched];
    if !interval.is_all() {
        let mut inputs = doc! {meta.count: 1, "odmWhole": is_whole, "odmWithin": items};
        inputs.extend(
            shape
                .kept
                .iter()
                .map(|field| (field.meta.name.to_owned(), 1.into())),
        );
        stages.push(doc! {"$project": inputs});
    }
    stages.push(doc! {"$project": values});
    // A bucket at an end of the interval may have no item in it.
    stages.push(doc! {"$match": {"count": {"$gt": 0}}});
    stages.push(doc! {"$group": group});
    stages
}

/// The name of a kept value in a group.
fn output(position: usize) -> String {
    format!("kept{position}")
}

impl<M: BucketModel> BucketSummary<M> {
    fn new(key: &BucketKey, group: &Document) -> Result<Self> {
        let raw = RawDocumentBuf::try_from(group.clone()).map_err(Error::encode)?;
        let number = |name: &str| {
            let number = raw.get(name).ok().flatten().and_then(units);
            number
                .and_then(|number| u64::try_from(number).ok())
                .unwrap_or(0)
        };
        let mut values = Document::new();
        for (position, field) in key.shape.kept.iter().enumerate() {
            if let Some(value) = group.get(output(position)) {
                values.insert(field.meta.name, value_of(field, value)?);
            }
        }
        Ok(Self {
            count: number("count"),
            buckets: number("buckets"),
            values,
            of: PhantomData,
        })
    }

    /// The smallest value, the largest or the total of a field that is declared with `smallest`, `largest` or `total`; `None` if no
    /// item has a value.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/hours.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let hours = db.buckets::<Hour>();
    /// hours.insert_many("s1", [reading(10, 00, 1.0), reading(10, 30, 2.0)]).await?;
    /// let summary = hours.summary("s1").await?;
    /// assert_eq!(summary.get(|h| h.warmest)?, Some(2.0));
    /// assert!(summary.get(|h| h.start).is_err(), "it is not kept of the items");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The field is not declared so, or can't hold the value.
    pub fn get<T, E: Decode<T>>(
        &self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
    ) -> Result<Option<T>> {
        let path = field(fields::<M>()).path().to_string();
        let model = M::model();
        let kept = model.bucket.into_iter().flat_map(|bucket| bucket.kept);
        if !kept.into_iter().any(|kept| kept.name == path) {
            let message = "a summary has the values that a bucket keeps of its items: name a field with `smallest`, `largest` or `total`";
            return Err(Error::usage(message).with_path(path).with_model(model.name));
        }
        match self.values.get(&path) {
            None | Some(Bson::Null) => Ok(None),
            Some(value) => decode_key(value.clone(), E::decode, model.name, &path).map(Some),
        }
    }
}

/// A value as the field stores it: `$sum` adds up to another type of number.
fn value_of(field: &KeptField, value: &Bson) -> Result<Bson> {
    let raw = bson::RawBson::try_from(value.clone()).map_err(Error::encode)?;
    let number = Number::from_raw(raw.as_raw_bson_ref());
    let Some(number) = number.filter(|_| field.meta.kind == KeptKind::Total) else {
        return Ok(value.clone());
    };
    let number = match computed::types(field.ty) {
        [BsonType::Int] => number
            .to_i64_exact()
            .and_then(|it| i32::try_from(it).ok())
            .map(Number::Int32),
        [BsonType::Long] => number.to_i64_exact().map(Number::Int64),
        [BsonType::Double] => Some(Number::Double(number.to_f64())),
        [BsonType::Decimal] => Some(Number::Decimal(number.to_decimal())),
        _ => None,
    };
    match number {
        Some(number) => Bson::try_from(number.to_raw()).map_err(Error::encode),
        None => Ok(value.clone()),
    }
}

impl<'s, M: BucketModel> IntoFuture for Summarize<'s, M> {
    type Output = Result<BucketSummary<M>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: BucketModel> fmt::Debug for Summarize<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarize")
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for BucketSummary<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketSummary")
            .field("count", &self.count)
            .field("buckets", &self.buckets)
            .field("values", &self.values)
            .finish()
    }
}
