//! Counters: numbers that are given out once each, such as those of invoices.
//!
//! [`Db::counter`] names a counter, a document of the collection `odm_counters` that the first number creates.
//! [`next`](Counter::next) and [`next_block`](Counter::next_block) take numbers by one command, and a number that is taken and not
//! used leaves a gap. [`insert`](Counter::insert) takes a number and inserts the document that has it in one transaction, which
//! leaves none. [`check`](Counter::check) compares a counter with the stored numbers.
//!
//! ```
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "invoices")]
//! struct Invoice {
//!     #[serde(rename = "_id")]
//!     number: i64,
//!     total: i64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! # let db = Db::memory();
//! let (counter, invoices) = (db.counter("invoices"), db.collection::<Invoice>());
//! let first = counter.insert(&invoices, |number| Invoice { number, total: 40 }).await?;
//! assert_eq!(first.number, 1);
//! assert_eq!(counter.next().await?, 2);
//! # Ok(())
//! # }
//! ```

mod check;
mod numbered;

use std::fmt;
use std::ops::RangeInclusive;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Document as BsonDocument, doc};
use futures_core::future::BoxFuture;
use odm_language::value::raw;

pub use self::check::CounterReport;
pub use self::numbered::{InsertNumbered, Numbered, NumberedResult};
use crate::collection::Db;
use crate::error::{Code, Error, Result};
use crate::exec::Channel;
use crate::model::{EmbeddedMeta, ModelMeta, ValidationLevel};
use crate::store::options::{Options, ReturnDocument};
use crate::store::{Modification, Operation, Session, Store, Update};

/// The collection of the counters. It is no model.
static COUNTERS: ModelMeta = ModelMeta {
    name: "the counters",
    collection: "odm_counters",
    embedded: || const { &EmbeddedMeta::of("the counters") },
    validation_level: ValidationLevel::Off,
    ..ModelMeta::EMPTY
};

/// The field with the last number that was taken.
const LAST: &str = "last";

/// How often a number is taken again when another process has created the counter meanwhile.
const ATTEMPTS: u32 = 5;

/// A counter of a database, from [`Db::counter`].
#[derive(Clone)]
pub struct Counter {
    store: Store,
    name: String,
}

impl Db {
    /// The counter with this name. Its first number is 1.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let counter = db.counter("tickets");
    /// assert_eq!(counter.next().await?, 1);
    /// assert_eq!(counter.next().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn counter(&self, name: impl Into<String>) -> Counter {
        Counter {
            store: self.store.clone(),
            name: name.into(),
        }
    }
}

impl Counter {
    /// The name.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// assert_eq!(Db::memory().counter("tickets").name(), "tickets");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the next number. If the caller does not use it, it is a gap.
    ///
    /// Within a [session](TakeNumber::session) whose transaction is aborted, the number is given out again.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let counter = db.counter("tickets");
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// assert_eq!(counter.next().session(&mut session).await?, 1);
    /// session.abort_transaction().await?;
    /// assert_eq!(counter.next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn next<'s>(&self) -> TakeNumber<'s> {
        TakeNumber {
            counter: self.clone(),
            session: None,
        }
    }

    /// Takes this many numbers by one command, to give them out without another one.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let counter = db.counter("tickets");
    /// let mut numbers = counter.next_block(100).await?;
    /// assert_eq!((numbers.next(), numbers.next()), (Some(1), Some(2)));
    /// // Others take numbers after the block.
    /// assert_eq!(counter.next().await?, 101);
    /// # Ok(())
    /// # }
    /// ```
    pub fn next_block<'s>(&self, size: u32) -> TakeBlock<'s> {
        TakeBlock {
            counter: self.clone(),
            size,
            session: None,
        }
    }

    /// The last number that was taken; 0 if none was.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let counter = db.counter("tickets");
    /// counter.next_block(10).await?;
    /// assert_eq!(counter.last().await?, 10);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn last(&self) -> Result<i64> {
        let mut channel = Channel::new(self.store.clone(), None);
        let find = Operation::Find {
            filter: self.filter().into(),
            one: true,
        };
        let options = channel.current().into();
        let mut last = Ok(0);
        let read = channel.of(&COUNTERS).read(find, options, |document| {
            last = self.read(document);
            Ok(())
        });
        read.await.map_err(|error| self.named(error))?;
        last
    }

    /// Raises the counter so that the next number is greater than this one; a counter that is past it stays as it is. Returns the
    /// last number then. It is for numbers that were stored otherwise, by an import for example.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let counter = db.counter("tickets");
    /// assert_eq!(counter.raise_to(5_000).await?, 5_000);
    /// assert_eq!(counter.raise_to(7).await?, 5_000);
    /// assert_eq!(counter.next().await?, 5_001);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn raise_to(&self, number: i64) -> Result<i64> {
        let mut channel = Channel::new(self.store.clone(), None);
        self.change(&mut channel, doc! {"$max": {LAST: number}})
            .await
    }

    fn filter(&self) -> BsonDocument {
        doc! {"_id": {"$eq": &self.name}}
    }

    /// Takes numbers; returns the last of them.
    async fn take(&self, channel: &mut Channel<'_>, count: u32) -> Result<i64> {
        self.change(channel, doc! {"$inc": {LAST: i64::from(count)}})
            .await
    }

    /// Changes the counter, which is created if it is missing, and returns its last number.
    async fn change(&self, channel: &mut Channel<'_>, change: BsonDocument) -> Result<i64> {
        let mut attempt = 1;
        loop {
            let mut update = Update::new(self.filter().into());
            update.modification = Modification::Operators(change.clone());
            let options = Options {
                upsert: Some(true),
                return_document: Some(ReturnDocument::After),
                ..Options::default()
            };
            let operation = Operation::FindAndUpdate(Box::new(update));
            let sent = channel.of(&COUNTERS).send(operation, options.into()).await;
            let changed = match sent.and_then(crate::store::Response::document) {
                // Two upserts at the same time may both insert.
                Err(error)
                    if error.code() == Some(Code::DUPLICATE_KEY)
                        && attempt < ATTEMPTS
                        && !channel.is_in_transaction() =>
                {
                    attempt += 1;
                    continue;
                }
                changed => changed.map_err(|error| self.named(error))?,
            };
            return match changed {
                Some(document) => self.read(&document),
                None => Err(self.named(Error::malformed_reply("the changed document"))),
            };
        }
    }

    /// The last number that a counter's document has. Other programs may have stored another type of number.
    fn read(&self, document: &RawDocument) -> Result<i64> {
        let last = raw::get(document, LAST);
        let number = match last {
            None => Some(0),
            Some(RawBsonRef::Int32(number)) => Some(i64::from(number)),
            Some(RawBsonRef::Int64(number)) => Some(number),
            Some(RawBsonRef::Double(number)) => whole(number),
            Some(_) => None,
        };
        number.ok_or_else(|| {
            let message = format!(
                "`{LAST}` is {last:?}, and the last number has to be a whole number: store it as a long"
            );
            self.named(Error::usage(message))
        })
    }

    fn named(&self, error: Error) -> Error {
        error.context(format!("counter `{}`", self.name))
    }
}

/// The number, if it is a whole one that doubles and integers both have.
fn whole(number: f64) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range was compared before"
    )]
    (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then_some(number as i64)
}

/// The next number of a counter: [`Counter::next`].
#[must_use = "no number is taken until it is awaited"]
pub struct TakeNumber<'s> {
    counter: Counter,
    session: Option<&'s mut Session>,
}

impl<'s> TakeNumber<'s> {
    /// Takes the number in this session, and in its transaction if one is under way: until it ends, others wait for the counter or
    /// meet a write conflict.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let mut session = db.start_session().await?;
    /// assert_eq!(db.counter("tickets").next().session(&mut session).await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }
}

impl<'s> IntoFuture for TakeNumber<'s> {
    type Output = Result<i64>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut channel = Channel::new(self.counter.store.clone(), self.session);
            self.counter.take(&mut channel, 1).await
        })
    }
}

/// The next numbers of a counter: [`Counter::next_block`].
#[must_use = "no number is taken until it is awaited"]
pub struct TakeBlock<'s> {
    counter: Counter,
    size: u32,
    session: Option<&'s mut Session>,
}

impl<'s> TakeBlock<'s> {
    /// Takes the numbers in this session, as [`TakeNumber::session`] does.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let mut session = db.start_session().await?;
    /// assert_eq!(db.counter("tickets").next_block(3).session(&mut session).await?, 1..=3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.session = Some(session);
        self
    }
}

impl<'s> IntoFuture for TakeBlock<'s> {
    type Output = Result<RangeInclusive<i64>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let counter = &self.counter;
            if self.size == 0 {
                let error = Error::usage("a block has at least one number");
                return Err(counter.named(error));
            }
            let mut channel = Channel::new(counter.store.clone(), self.session);
            let last = counter.take(&mut channel, self.size).await?;
            Ok(last - i64::from(self.size) + 1..=last)
        })
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counter({}.{})", self.store.database(), self.name)
    }
}

impl fmt::Debug for TakeNumber<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TakeNumber({:?})", self.counter)
    }
}

impl fmt::Debug for TakeBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TakeBlock({:?}, {})", self.counter, self.size)
    }
}
