//! Reads a sample of the stored documents, and says what MongoDB's schema anti-patterns suggest to change.
//!
//! [`Db::advise`] compares what models declare with what is stored: sizes, the lengths of arrays, uses of indexes, how many
//! documents relations have. Each [`AdviceCode`] names an anti-pattern, its threshold and what it can't see.
//!
//! This module is not a check: data that gets advice is valid, and data that gets none may still be badly modelled. It sees
//! no queries, writes nothing, and is meant for a person who decides.

mod code;
mod collections;
mod documents;
mod fields;
mod indexes;
mod lengths;
mod relations;
mod report;
mod subject;
mod survey;
pub mod thresholds;

use std::fmt;
use std::time::Duration;

use bson::{Bson, DateTime, Document, doc};
use futures_core::future::BoxFuture;

pub use self::code::AdviceCode;
use self::collections::Listed;
use self::fields::Places;
pub use self::report::{Advice, AdviceReport, SampledModel};
use self::subject::Subject;
use self::survey::Survey;
use crate::collection::Db;
use crate::error::Result;
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::schema::normal::integer;
use crate::store::options::Chosen;
use crate::store::{Operation, Store};
use crate::write::Progress;

/// From this share of a collection on, `$sample` would sort all documents; the denominator.
const SORTED_FROM: u64 = 20;

impl Db {
    /// Reads a sample of the documents of these models, and reports which of MongoDB's schema anti-patterns they have.
    ///
    /// It reads up to 10,000 random documents of each model ([`sample`](Advise::sample)), the uses and sizes that MongoDB
    /// counts, and for relations that could be embedded the documents of up to 1,000 others, by an index. It writes nothing, and
    /// explains nothing. Do not run it on every start: a scheduled job or a person reads the report. Name all models: what others
    /// refer to is not to be embedded, and references of models that are not named are not seen.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// use odm::advise::AdviceCode;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let report = db.advise(models![Playlist]).await?;
    /// let [advice] = report.advice.as_slice() else { panic!("{report}") };
    /// assert_eq!(advice.code, AdviceCode::UnboundedArray);
    /// assert_eq!(advice.path.as_deref(), Some("songs"));
    /// assert_eq!(advice.figures.get_i64("max")?, 300);
    /// println!("{report}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_declaration`](crate::Error::is_declaration): a declaration that can't be carried out, as in a plan of
    /// [`sync`](Db::sync). What the server refuses, such as statistics for which the user has no privilege, is no error: the report
    /// lists it as [not examined](AdviceReport::not_examined).
    pub fn advise<'s>(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Advise<'s> {
        Advise {
            store: self.store.clone(),
            models: ModelMeta::wholes(models),
            sample: thresholds::SAMPLE,
            max_collections: thresholds::COLLECTIONS,
            unused_for: Duration::from_secs(thresholds::UNUSED_DAYS * 24 * 60 * 60),
            progress: Progress::default(),
        }
    }
}

/// A report about models and their data, about to be made: [`Db::advise`].
#[must_use = "nothing is read until it is awaited"]
pub struct Advise<'s> {
    store: Store,
    models: Vec<&'static ModelMeta>,
    sample: u64,
    max_collections: u64,
    unused_for: Duration,
    progress: Progress<'s>,
}

impl<'s> Advise<'s> {
    /// Reads about this many random documents of each model, and all if it has no more; 10,000 by default.
    ///
    /// MongoDB finds them by a random cursor if they are at most a twentieth of the collection, and otherwise reads the whole
    /// collection for them. What is kept of them grows with this number, and not with the collections.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let report = db.advise(models![Playlist]).sample(1).await?;
    /// assert_eq!((report.sampled[0].documents, report.sampled[0].of), (1, 20));
    /// # Ok(())
    /// # }
    /// ```
    pub fn sample(mut self, documents: u64) -> Self {
        self.sample = documents;
        self
    }

    /// Sets the number of collections above which the database has [too many](AdviceCode::TooManyCollections); 10,000 by default,
    /// which MongoDB recommends as the limit of a replica set. Set fewer for a small server.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let report = db.advise(models![]).max_collections(0).await?;
    /// assert_eq!(report.advice[0].code.as_str(), "too-many-collections");
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_collections(mut self, collections: u64) -> Self {
        self.max_collections = collections;
        self
    }

    /// Sets how long MongoDB has to have counted no use of an index, for it to be [unused](AdviceCode::UnusedIndex); 7 days by
    /// default. The counters start anew with mongod.
    ///
    /// ```
    /// use std::time::Duration;
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "books", index(title))]
    /// struct Book { #[serde(rename = "_id")] id: i32, title: String }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
    /// let report = db.advise(models![Book]).unused_for(Duration::ZERO).await?;
    /// assert_eq!(report.advice[0].index.as_deref(), Some("title_1"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn unused_for(mut self, time: Duration) -> Self {
        self.unused_for = time;
        self
    }

    /// Calls `report` with the number of documents of all models that were read, after each 1,000 and at the end.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let mut read = 0;
    /// db.advise(models![Playlist]).on_progress(|count| read = count).await?;
    /// assert_eq!(read, 20);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(u64) + Send + 's) -> Self {
        self.progress = Progress::to(report);
        self
    }

    async fn run(mut self) -> Result<AdviceReport> {
        let mut report = AdviceReport::default();
        let listed = collections::list(&self.store, &mut report).await?;
        let mut read = 0;
        for model in self.models.clone() {
            let subject = Subject {
                model,
                collection: self.store.names().of_model(model),
            };
            if let Some(listed) = &listed
                && let Some(reason) = reason_to_skip(&subject, listed)
            {
                report.not_examined.push(reason);
                continue;
            }
            let examined = self.model(&subject, &mut read, &mut report).await;
            examined.map_err(|error| error.with_model(model.name))?;
        }
        self.progress.end(read);
        if let Some(listed) = &listed {
            let models = self.models.iter();
            let names = models.map(|model| self.store.names().of(model.collection));
            let names: Vec<_> = names.collect();
            let most = self.max_collections;
            collections::advise(&self.store, listed, &names, most, &mut report).await?;
        }
        Ok(report)
    }

    async fn model(
        &mut self,
        subject: &Subject,
        read: &mut u64,
        report: &mut AdviceReport,
    ) -> Result<()> {
        let Some(stats) = statistics(&self.store, subject, report).await? else {
            return Ok(());
        };
        let model = subject.model;
        let indexes = indexes::read(&self.store, subject, report).await?;
        let related = relations::candidates(model, &self.models)?;
        let mut keys: Vec<_> = related.iter().map(|one| one.key.clone()).collect();
        keys.dedup_by(|one, other| one.as_str() == other.as_str());
        let places = Places::of(model);
        let strings = indexes::case_sensitive(&indexes, &places.strings);
        let mut survey = Survey::new(model, places, strings, keys, self.sample);
        let sampled = self.read(subject, stats.count, &mut survey, read).await;
        let what = || format!("the documents of {}", subject.title());
        if report.unless_refused(what, sampled)?.is_none() {
            return Ok(());
        }
        report.sampled.push(SampledModel {
            model: model.name,
            collection: subject.collection.to_string(),
            documents: survey.documents,
            of: stats.count.max(survey.documents),
        });
        report
            .advice
            .extend(documents::advise(subject, &survey, stats.bytes));
        indexes::advise(subject, &indexes, stats.now, self.unused_for, report);
        let is_whole = survey.documents >= stats.count;
        for one in &related {
            let advised = one.advise(&self.store, subject, &survey, is_whole, report);
            advised.await?;
        }
        Ok(())
    }

    /// Reads the sample.
    async fn read(
        &mut self,
        subject: &Subject,
        count: u64,
        survey: &mut Survey,
        read: &mut u64,
    ) -> Result<()> {
        let channel = Channel::new(self.store.clone(), None);
        let operation = Operation::Aggregate {
            pipeline: vec![stage(self.sample, count)],
        };
        let opened = channel.cursor(subject.model, operation, Chosen::default());
        let mut cursor = opened.await?;
        while let Some(document) = cursor.next().await {
            survey.add(document?);
            *read += 1;
            self.progress.read(*read);
        }
        Ok(())
    }
}

/// The stage that returns a sample of a collection with this many documents.
fn stage(sample: u64, count: u64) -> Document {
    let size = report::number(sample.max(1));
    if count <= sample {
        doc! {"$limit": size}
    } else if sample.saturating_mul(SORTED_FROM) <= count {
        doc! {"$sample": {"size": size}}
    } else {
        #[expect(clippy::cast_precision_loss, reason = "a rate need not be exact")]
        let rate = sample as f64 / count as f64;
        doc! {"$match": {"$sampleRate": rate}}
    }
}

/// Why a model can't be examined, if so.
fn reason_to_skip(subject: &Subject, listed: &Listed) -> Option<String> {
    match listed.get(&*subject.collection).map(String::as_str) {
        None => Some(format!(
            "{}: the collection does not exist",
            subject.title()
        )),
        Some("collection") => None,
        Some(kind) => Some(format!(
            "{}: it is a {kind}, and only collections are examined",
            subject.title()
        )),
    }
}

/// What MongoDB counts of a collection.
struct Statistics {
    count: u64,
    /// The size of all documents in bytes, if it is known.
    bytes: Option<u64>,
    /// The time of the server, or of this process if it is not known.
    now: DateTime,
}

async fn statistics(
    store: &Store,
    subject: &Subject,
    report: &mut AdviceReport,
) -> Result<Option<Statistics>> {
    let name = &*subject.collection;
    let pipeline = vec![doc! {"$collStats": {"count": {}, "storageStats": {}}}];
    let command = doc! {"aggregate": name, "pipeline": pipeline, "cursor": {}};
    let stats = store.run_cursor(command).await;
    let what = || format!("the size of {}", subject.title());
    let natural = |value: Option<&Bson>| u64::try_from(value.and_then(integer)?).ok();
    let Some(shards) = report.unless_refused(what, stats)? else {
        // Whoever may read documents may count them.
        let counted = store.run_command(doc! {"count": name}).await;
        let counted = report.unless_refused(|| subject.title(), counted)?;
        return Ok(counted.map(|reply| Statistics {
            count: natural(reply.get("n")).unwrap_or(0),
            bytes: None,
            now: DateTime::now(),
        }));
    };
    let (mut count, mut bytes, mut now) = (0, 0, None);
    for shard in &shards {
        count += natural(shard.get("count")).unwrap_or(0);
        let storage = shard.get_document("storageStats").ok();
        bytes += natural(storage.and_then(|it| it.get("size"))).unwrap_or(0);
        now = now.max(shard.get_datetime("localTime").ok().copied());
    }
    Ok(Some(Statistics {
        count,
        bytes: Some(bytes),
        now: now.unwrap_or_else(DateTime::now),
    }))
}

impl<'s> IntoFuture for Advise<'s> {
    type Output = Result<AdviceReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Advise<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = self.models.iter().map(|model| model.name);
        f.debug_tuple("Advise")
            .field(&models.collect::<Vec<_>>())
            .finish()
    }
}
