//! A check that goes on for good: a slow pass over all documents, again and again.
//!
//! A [check](crate::check) answers whether the data is sound now. [`Db::scrub`] keeps the answer fresh in production: it divides each
//! collection into ranges of `_id`s, checks them one after the other at a limited rate, and stores how far it is in the database. So
//! it goes on after a restart, and any number of processes share the work.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = a_shelf().await?;
//! db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
//! // What is due now; `until(…)` goes on for good.
//! let report = db.scrub(models![Author, Book]).await?;
//! assert_eq!((report.documents, report.findings), (4, 3));
//!
//! let status = db.scrub_status(models![Author, Book]).await?;
//! assert!(status.age().is_some_and(|age| age.as_secs() < 60), "the number to alarm on");
//! assert_eq!(status.findings.get("dangling-reference"), Some(&3));
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `tracing`, each finding is an event at the level `WARN`, and each range one at `INFO`, with the target
//! `odm::scrub`.

mod ranges;
mod run;
mod status;

use std::fmt;
use std::time::Duration;

use futures_core::future::BoxFuture;

pub use self::run::ScrubReport;
pub use self::status::ScrubStatus;
use crate::check::{Aspect, Check, Finding};
use crate::collection::Db;
use crate::error::Result;
use crate::model::ModelMeta;

/// How many documents are read each second, unless it is said.
const RATE: u32 = 1_000;

/// How many documents a range has, at most.
const RANGE: u64 = 10_000;

/// After which time a range is checked again.
const EVERY: Duration = Duration::from_secs(24 * 3_600);

type Hear<'s> = Box<dyn FnMut(&Finding) + Send + 's>;

/// A scrub, about to run: [`Db::scrub`].
#[must_use = "nothing is read until it is awaited"]
pub struct Scrub<'s> {
    check: Check<'static>,
    rate: u32,
    range: u64,
    every: Duration,
    hear: Option<Hear<'s>>,
}

impl Db {
    /// Checks the documents of these models, range by range.
    ///
    /// Awaited, it checks each range that is due once, and returns. [`until`](Scrub::until) goes on for good. The collection
    /// `odm_scrubs` has the ranges. Several processes take different ones; a range whose process has ended is taken over after its
    /// lease, which is a minute longer than four times the time that the range should take.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// assert_eq!(db.scrub(models![Author, Book]).await?.documents, 5);
    /// // All of it was checked today.
    /// assert_eq!(db.scrub(models![Author, Book]).await?.documents, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scrub<'s>(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Scrub<'s> {
        Scrub {
            check: self.check(models),
            rate: RATE,
            range: RANGE,
            every: EVERY,
            hear: None,
        }
    }
}

impl<'s> Scrub<'s> {
    /// Checks only this: [`Check::only`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use odm::check::Aspect;
    ///
    /// let report = db.scrub(models![Book]).only([Aspect::References]).await?;
    /// assert_eq!(report.documents, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn only(self, aspects: impl IntoIterator<Item = Aspect>) -> Self {
        Self {
            check: self.check.only(aspects),
            ..self
        }
    }

    /// Checks everything but this: [`Check::without`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use odm::check::Aspect;
    ///
    /// let report = db.scrub(models![Book]).without(Aspect::UndeclaredFields).await?;
    /// assert_eq!(report.documents, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn without(self, aspect: Aspect) -> Self {
        Self {
            check: self.check.without(aspect),
            ..self
        }
    }

    /// Reads at most this many documents each second: 1,000 unless it is said.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// db.scrub(models![Book]).documents_per_second(10_000).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn documents_per_second(self, documents: u32) -> Self {
        Self {
            rate: documents.max(1),
            ..self
        }
    }

    /// Checks a range again after this time: a day unless it is said.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use std::time::Duration;
    ///
    /// db.scrub(models![Book]).every(Duration::from_secs(7 * 24 * 3_600)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn every(self, time: Duration) -> Self {
        Self {
            every: time,
            ..self
        }
    }

    /// Divides collections into ranges of at most this many documents: 10,000 unless it is said. A range that is stopped is checked
    /// again from its start.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let report = db.scrub(models![Book]).range_documents(2).await?;
    /// assert_eq!((report.documents, report.ranges), (3, 3), "two ranges, and what is not about documents");
    /// # Ok(())
    /// # }
    /// ```
    pub fn range_documents(self, documents: u64) -> Self {
        Self {
            range: documents.max(1),
            ..self
        }
    }

    /// Hears each finding.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// db.scrub(models![Book]).on_finding(|finding| eprintln!("{finding}")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_finding(self, hear: impl FnMut(&Finding) + Send + 's) -> Self {
        Self {
            hear: Some(Box::new(hear)),
            ..self
        }
    }

    /// Checks range after range until the future is ready, and returns what was done. While nothing is due it waits.
    ///
    /// A failed connection does not end it: it tries again. A range that it has not ended is left to the next process.
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # async fn shutdown() {}
    /// let report = db.scrub(models![Author, Book]).until(shutdown()).await?;
    /// println!("{} documents, {} findings", report.documents, report.findings);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The options of the check are refused, or a command fails for another reason than its connection.
    pub async fn until(self, stop: impl Future) -> Result<ScrubReport> {
        run::until(self, stop).await
    }
}

impl<'s> IntoFuture for Scrub<'s> {
    type Output = Result<ScrubReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(run::once(self))
    }
}

impl fmt::Debug for Scrub<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrub")
            .field("check", &self.check)
            .field("rate", &self.rate)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
