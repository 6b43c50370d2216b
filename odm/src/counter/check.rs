//! The comparison of a counter with the numbers that documents have.

use std::fmt;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Document as BsonDocument, doc};
use odm_language::value::raw;

use super::Counter;
use crate::collection::{Collection, ReadPreference};
use crate::error::{Error, Result};
use crate::model::{Document, Embedded};
use crate::query::{Field, Filter, FromRaw, Sort, fields};

/// A counter beside the largest number that a document has: [`Counter::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterReport {
    /// The name of the counter.
    pub counter: String,
    /// The last number that was taken.
    pub last: i64,
    /// The largest number that a document has; none if no document has one. A fraction is rounded up.
    pub largest: Option<i64>,
}

impl CounterReport {
    /// Whether the counter will give out numbers that documents have already.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "invoices")]
    /// # struct Invoice { #[serde(rename = "_id")] number: i64 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let invoices = db.collection::<Invoice>();
    /// invoices.insert_one(Invoice { number: 40 }).await?; // an import
    /// let report = db.counter("invoices").check(&invoices, |i| i.number).await?;
    /// assert!(report.is_behind());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_behind(&self) -> bool {
        self.largest.is_some_and(|largest| largest > self.last)
    }
}

impl fmt::Display for CounterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            counter,
            last,
            largest,
        } = self;
        match largest {
            Some(largest) if largest > last => write!(
                f,
                "counter `{counter}` is behind: its last number is {last}, and a document has {largest}; call `catch_up`"
            ),
            Some(largest) => write!(
                f,
                "counter `{counter}` is at {last}, and the largest number of a document is {largest}"
            ),
            None => write!(
                f,
                "counter `{counter}` is at {last}, and no document has a number"
            ),
        }
    }
}

impl Counter {
    /// Compares the counter with the largest number that documents have in a field. An index on the field serves it.
    ///
    /// Documents whose field is not a number are left out.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "invoices")]
    /// # struct Invoice { #[serde(rename = "_id")] number: i64 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let (counter, invoices) = (db.counter("invoices"), db.collection::<Invoice>());
    /// counter.insert(&invoices, |number| Invoice { number }).await?;
    /// let report = counter.check(&invoices, |i| i.number).await?;
    /// assert_eq!((report.last, report.largest), (1, Some(1)));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn check<M: Document, T, E>(
        &self,
        documents: &Collection<M>,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
    ) -> Result<CounterReport> {
        let path = field(fields::<M>()).path().to_string();
        // The counter is read last: numbers that are taken and inserted meanwhile do not make it look behind.
        let largest = largest(documents, &path).await;
        let largest = largest.map_err(|error| self.named(error))?;
        Ok(CounterReport {
            counter: self.name.clone(),
            last: self.last().await?,
            largest,
        })
    }

    /// Raises the counter to the largest number that documents have in a field, if it is behind. Returns the report of before.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "invoices")]
    /// # struct Invoice { #[serde(rename = "_id")] number: i64 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let (counter, invoices) = (db.counter("invoices"), db.collection::<Invoice>());
    /// invoices.insert_one(Invoice { number: 40 }).await?; // an import
    /// assert!(counter.catch_up(&invoices, |i| i.number).await?.is_behind());
    /// assert_eq!(counter.next().await?, 41);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn catch_up<M: Document, T, E>(
        &self,
        documents: &Collection<M>,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
    ) -> Result<CounterReport> {
        let report = self.check(documents, field).await?;
        if let Some(largest) = report.largest
            && report.is_behind()
        {
            self.raise_to(largest).await?;
        }
        Ok(report)
    }
}

/// The largest number that documents have at a path.
async fn largest<M: Document>(documents: &Collection<M>, path: &str) -> Result<Option<i64>> {
    if path
        .split('.')
        .any(|name| name.is_empty() || name.starts_with('$'))
    {
        let message = "a counter is compared with one number in each document";
        return Err(Error::usage(message).with_path(path));
    }
    let find = documents
        .find(|_| Filter::from_raw(doc! {path: {"$type": "number"}}))
        .sort(|_| Sort::from_raw(doc! {path: -1}))
        .limit(1)
        // A secondary may not have the newest numbers.
        .read_preference(ReadPreference::primary())
        .projection(doc! {path: 1})
        .with_type::<BsonDocument>();
    let found = find.all().await?;
    let Some(document) = found.first() else {
        return Ok(None);
    };
    let document = bson::serialize_to_raw_document_buf(document).map_err(Error::encode)?;
    Ok(at(&document, path).and_then(integer))
}

fn at<'d>(document: &'d RawDocument, path: &str) -> Option<RawBsonRef<'d>> {
    let mut names = path.split('.');
    let mut value = raw::get(document, names.next()?)?;
    for name in names {
        value = raw::get(value.as_document()?, name)?;
    }
    Some(value)
}

/// The number, rounded up.
fn integer(value: RawBsonRef<'_>) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a larger number than any counter has is the largest"
    )]
    let rounded = |number: f64| (!number.is_nan()).then_some(number.ceil() as i64);
    match value {
        RawBsonRef::Int32(number) => Some(i64::from(number)),
        RawBsonRef::Int64(number) => Some(number),
        RawBsonRef::Double(number) => rounded(number),
        RawBsonRef::Decimal128(number) => number.to_string().parse().ok().and_then(rounded),
        _ => None,
    }
}
