//! Checks of everything that models declare about stored documents.
//!
//! MongoDB checks what one write does to one document. Nothing checks what several documents say about each other, and what other
//! programs, older versions and writes past the validator have left. [`Db::check`] reads the collections of models once, compares
//! each document with its model and with the documents that it refers to, and reports what contradicts itself. It writes nothing.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = a_shelf().await?;
//! db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
//! // Another program knows nothing of the model.
//! db.run_command(doc! {"update": "books", "updates": [{"q": {"_id": 2}, "u": {"$set": {"colour": "red"}}}]}).await?;
//!
//! let report = db.check(models![Author, Book]).await?;
//! assert_eq!(report.findings, 4);
//! println!("{report}");
//! // 4 documents read, 4 findings
//! //   dangling reference of `Book` at `author`: 3
//! //   undeclared field of `Book` at `colour`: 1
//! // Book 1: dangling reference: `author` leads to no `Author` with the _id 1
//! // …
//! # Ok(())
//! # }
//! ```

pub(crate) mod checkers;
mod document;
mod finding;
mod indexes;
pub(crate) mod pass;
mod report;
mod run;
mod token;

use std::collections::HashMap;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use bson::{Document as BsonDocument, doc};
use futures_core::future::BoxFuture;

pub use self::finding::{Finding, FindingKind};
use self::pass::{Selection, both};
pub use self::report::{CheckReport, CheckedCollection, FindingCount};
pub use self::token::CheckToken;
use crate::collection::{Db, filter};
use crate::error::{Error, Result};
use crate::model::{Document, ModelMeta};
use crate::query::FilterFn;
use crate::store::Store;

/// What a [check](Check) compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Aspect {
    /// References and DBRefs, at any depth: do they lead to documents?
    References,
    /// Both sides of `two_way` references.
    TwoWay,
    /// Copies and the fields that they follow: `copy_of`.
    Copies,
    /// Summaries and the documents that they summarize: `count_of`, `sum_of` and their kin.
    Summaries,
    /// Lists of the newest and the documents in them: `recent`.
    Recent,
    /// What buckets keep of their items, and the spans of the items: `bucket`.
    Buckets,
    /// Files of GridFS and their chunks: `gridfs`.
    Files,
    /// The fields of shard keys: does each document have one value of them? `shard_key`
    ShardKeys,
    /// The versions of documents: `schema`.
    SchemaVersions,
    /// Documents and the validator of their model, whatever its level and its action.
    Validator,
    /// Fields that no model declares.
    UndeclaredFields,
    /// The fields that trees keep.
    Trees,
    /// The indexes by which relations find their documents.
    Indexes,
    /// Changes of several documents that have begun and not ended.
    UnfinishedChanges,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::References,
        Self::TwoWay,
        Self::Copies,
        Self::Summaries,
        Self::Recent,
        Self::Buckets,
        Self::Files,
        Self::ShardKeys,
        Self::SchemaVersions,
        Self::Validator,
        Self::UndeclaredFields,
        Self::Trees,
        Self::Indexes,
        Self::UnfinishedChanges,
    ];

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of aspects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Aspects(u16);

impl Aspects {
    pub(crate) fn of(aspects: impl IntoIterator<Item = Aspect>) -> Self {
        let bits = aspects.into_iter().map(Aspect::bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }

    pub(crate) fn has(self, aspect: Aspect) -> bool {
        self.0 & aspect.bit() != 0
    }
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckProgress<'a> {
    /// The Rust name of the model whose documents are read.
    pub model: &'static str,
    /// The name of the collection.
    pub collection: &'a str,
    /// How many documents of the collection were read.
    pub read: u64,
    /// About how many documents the collection has, by its metadata; what a filter leaves out is counted.
    pub estimated: u64,
    /// How many findings there are so far, in all collections.
    pub findings: u64,
}

/// A check about to run: [`Db::check`].
///
/// It reads each collection once, in the order of the `_id`s, 1,000 documents at a time or less where they are large, and looks up
/// what each thousand refers to with one query for each relation; a list of the newest takes a query of its own. So it needs the
/// same memory for any number of documents. Trees are the exception: they are read as a whole, some hundred bytes for each node.
///
/// What seems to be wrong is read again, together with what it is compared with, at one time where the deployment has
/// transactions. Where writers settle what follows from a write a moment later, it is wrong only if it still is after 200 ms. So
/// writers may run beside a check, and what they are about to write is not reported.
#[must_use = "nothing is read until it is awaited"]
pub struct Check<'s> {
    pub(crate) settings: Settings,
    hear_progress: Option<HearProgress<'s>>,
    hear_finding: Option<HearFinding<'s>>,
    /// The first option that can't be.
    pub(crate) refused: Option<Error>,
}

/// What a check reads.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) store: Store,
    pub(crate) models: Vec<&'static ModelMeta>,
    pub(crate) aspects: Aspects,
    /// By the declared name of the collection.
    pub(crate) filters: HashMap<&'static str, BsonDocument>,
    pub(crate) sample: Option<u64>,
    pub(crate) rate: Option<u32>,
    pub(crate) time_limit: Option<Duration>,
    /// The most documents of each collection.
    pub(crate) most: Option<u64>,
    pub(crate) token: Option<CheckToken>,
    pub(crate) unfinished_after: Duration,
}

type HearProgress<'s> = Box<dyn FnMut(&CheckProgress<'_>) + Send + 's>;
type HearFinding<'s> = Box<dyn FnMut(&Finding) + Send + 's>;

/// After this time, a change that has not ended is reported.
const UNFINISHED_AFTER: Duration = Duration::from_secs(60);

impl Db {
    /// Checks the stored documents of models: references, copies, summaries, lists, trees, validators, fields, indexes and
    /// unfinished changes. It only reads.
    ///
    /// See [`Check`] for what it costs, and [`Aspect`] for what it compares. [`CheckReport::is_sound`] is the answer in one word.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// # db.sync(models![Host, LogMessage]).plan().await?.apply(Allow::CREATE).await?;
    /// use odm::check::FindingKind;
    ///
    /// // Another program does not know of the copies of the address.
    /// db.run_command(doc! {"update": "hosts", "updates": [{"q": {"_id": 1}, "u": {"$set": {"ipaddr": "127.0.0.9"}}}]}).await?;
    /// let report = db.check(models![Host, LogMessage]).await?;
    /// assert!(!report.is_sound());
    /// assert!(report.listed.iter().all(|one| one.kind == FindingKind::StaleCopy), "{report}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A declaration that could not be kept, a token of another check, or a read that failed.
    pub fn check<'s>(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Check<'s> {
        let mut all: Vec<&'static ModelMeta> = Vec::new();
        for model in ModelMeta::wholes(models) {
            if all.iter().all(|other| other.collection != model.collection) {
                all.push(model);
            }
        }
        let settings = Settings {
            store: self.store.clone(),
            models: all,
            aspects: Aspects::of(Aspect::ALL),
            filters: HashMap::new(),
            sample: None,
            rate: None,
            time_limit: None,
            most: None,
            token: None,
            unfinished_after: UNFINISHED_AFTER,
        };
        Check::of(settings)
    }
}

impl<'s> Check<'s> {
    pub(crate) fn of(settings: Settings) -> Self {
        Self {
            settings,
            hear_progress: None,
            hear_finding: None,
            refused: None,
        }
    }

    /// Compares only these aspects.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use odm::check::Aspect;
    ///
    /// let report = db.check(models![Book]).only([Aspect::References, Aspect::TwoWay]).await?;
    /// assert!(report.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    pub fn only(mut self, aspects: impl IntoIterator<Item = Aspect>) -> Self {
        self.settings.aspects = Aspects::of(aspects);
        self
    }

    /// Leaves an aspect out.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use odm::check::Aspect;
    ///
    /// // Another program keeps fields of its own in these documents.
    /// let report = db.check(models![Book]).without(Aspect::UndeclaredFields).await?;
    /// assert!(report.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    pub fn without(mut self, aspect: Aspect) -> Self {
        self.settings.aspects.0 &= !aspect.bit();
        self
    }

    /// Reads only the documents of one model that match; those of other models are all read.
    ///
    /// The trees of the model are not checked then, because parts of a tree say nothing about it: the report's
    /// [`not_checked`](CheckReport::not_checked) names them. Several filters of a model are joined with "and".
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let report = db.check(models![Book]).filter::<Book>(|b| b.id.gt(1)).await?;
    /// assert_eq!(report.read(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter<M: Document>(mut self, condition: impl FilterFn<M>) -> Self {
        let condition = filter::<M>(condition).map(crate::store::Condition::into_document);
        self.add_filter(M::model(), condition);
        self
    }

    /// Reads only the documents of one model whose `_id` is in a range. Several processes can share a check by ranges.
    ///
    /// As in every query of MongoDB, only `_id`s of the type of the bounds are in a range.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// assert_eq!(db.check(models![Book]).range::<Book>(2..).await?.read(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn range<M: Document>(mut self, ids: impl RangeBounds<M::Id>) -> Self {
        let mut range = BsonDocument::new();
        let bounds = [
            (ids.start_bound(), "$gte", "$gt"),
            (ids.end_bound(), "$lte", "$lt"),
        ];
        let mut failed = Ok(());
        for (bound, including, excluding) in bounds {
            let (operator, id) = match bound {
                Bound::Included(id) => (including, id),
                Bound::Excluded(id) => (excluding, id),
                Bound::Unbounded => continue,
            };
            match crate::codec::encode::value(id) {
                Ok(id) => drop(range.insert(operator, id)),
                Err(error) => failed = Err(error.into_error()),
            }
        }
        let condition = failed.map(|()| {
            if range.is_empty() {
                range
            } else {
                doc! {"_id": range}
            }
        });
        self.add_filter(M::model(), condition);
        self
    }

    fn add_filter(&mut self, model: &'static ModelMeta, condition: Result<BsonDocument>) {
        let condition = match condition {
            Ok(condition) => condition,
            Err(error) => {
                self.refused.get_or_insert(error.with_model(model.name));
                return;
            }
        };
        let condition = match model.variant_of {
            Some(of) => both(of.filter(), condition),
            None => condition,
        };
        let mut models = self.settings.models.iter();
        if models.all(|other| other.collection != model.collection) {
            let message =
                "this model is not checked: list it in `models![…]`, or leave its filter out";
            let error = Error::usage(message).with_model(model.name);
            self.refused.get_or_insert(error);
        }
        let filter = self.settings.filters.entry(model.collection).or_default();
        *filter = both(std::mem::take(filter), condition);
    }

    /// Reads only this many documents of each collection, chosen at random by `$sample`. Trees are not checked then.
    ///
    /// Below a twentieth of a collection, MongoDB chooses by the storage engine's random cursor, and a document may be read twice;
    /// it is reported once. A sample has no order to go on with, so [`time_limit`](Self::time_limit) leaves no
    /// [rest](CheckReport::rest) of it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// assert_eq!(db.check(models![Book]).sample(2).await?.read(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sample(mut self, documents: u64) -> Self {
        self.settings.sample = Some(documents);
        self
    }

    /// Reads at most this many documents in a second. The queries that compare them are not counted.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let report = db.check(models![Author, Book]).documents_per_second(10_000).await?;
    /// assert!(report.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    pub fn documents_per_second(mut self, documents: u32) -> Self {
        self.settings.rate = Some(documents);
        self
    }

    /// Ends the check after this time, between two chunks of documents; [`CheckReport::rest`] says where to go on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use std::time::Duration;
    ///
    /// let mut report = db.check(models![Author, Book]).time_limit(Duration::ZERO).await?;
    /// assert_eq!(report.read(), 0);
    /// if let Some(rest) = report.rest.take() {
    ///     report = db.check(models![Author, Book]).resume(rest).await?;
    /// }
    /// assert_eq!(report.read(), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Goes on where another check of the same models has stopped. The report is about the rest.
    ///
    /// The other options are not part of the token: give the same filters again. Documents that were inserted meanwhile, with
    /// `_id`s before the place, are not read.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let token = r#"{"collection":"books","after":1}"#.parse()?;
    /// assert_eq!(db.check(models![Author, Book]).resume(token).await?.read(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(mut self, token: CheckToken) -> Self {
        self.settings.token = Some(token);
        self
    }

    /// Reports changes that have not ended after this time; 60 seconds, if it is not called. A change that still runs has not
    /// ended either.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use std::time::Duration;
    ///
    /// let an_hour = Duration::from_secs(60 * 60);
    /// assert!(db.check(models![Book]).unfinished_after(an_hour).await?.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    pub fn unfinished_after(mut self, time: Duration) -> Self {
        self.settings.unfinished_after = time;
        self
    }

    /// Calls `hear` after each chunk of documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let mut seen = Vec::new();
    /// let check = db.check(models![Author, Book]);
    /// check.on_progress(|now| seen.push((now.model, now.read, now.estimated))).await?;
    /// assert_eq!(seen, [("Author", 2, 2), ("Book", 3, 3)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&CheckProgress<'_>) + Send + 's) -> Self {
        Self {
            hear_progress: Some(Box::new(hear)),
            ..self
        }
    }

    /// Calls `hear` with every finding, also with those that the report only counts. Of one tree, it gets the first 10,000.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let mut lines = Vec::new();
    /// db.check(models![Book]).on_finding(|finding| lines.push(finding.to_json())).await?;
    /// assert_eq!(lines.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_finding(self, hear: impl FnMut(&Finding) + Send + 's) -> Self {
        Self {
            hear_finding: Some(Box::new(hear)),
            ..self
        }
    }
}

impl Settings {
    pub(crate) fn selection(&self, model: &ModelMeta) -> Selection {
        Selection {
            filter: self
                .filters
                .get(model.collection)
                .cloned()
                .unwrap_or_default(),
            sample: self.sample,
            most: self.most,
            rate: self.rate,
        }
    }
}

impl<'s> IntoFuture for Check<'s> {
    type Output = Result<CheckReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(run::run(self))
    }
}

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = self.settings.models.iter().map(|model| model.name);
        f.debug_tuple("Check")
            .field(&models.collect::<Vec<_>>())
            .finish()
    }
}
