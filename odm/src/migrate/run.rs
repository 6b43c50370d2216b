//! Runs a migration: its collections one after the other, in the order of the `_id`s.

use std::fmt;
use std::time::{Duration, Instant};

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use futures_core::future::BoxFuture;

use super::token::Part;
use super::{Migrated, MigrationReport, MigrationToken, Settings, Versioned};
use crate::collection::versions::upgrade::{Outcome, Place, rewrite};
use crate::error::Result;
use crate::exec::Channel;
use crate::store::Operation;
use crate::store::options::{Chosen, Options};
use crate::write::checker::id_of;

/// How many documents are read and rewritten together.
const BATCH: u32 = 500;

/// How many bytes of documents are read and rewritten together.
const BATCH_BYTES: usize = 8_000_000;

/// How far a migration is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MigrationProgress<'a> {
    /// The Rust name of the model whose documents are rewritten.
    pub model: &'static str,
    /// How many documents were rewritten, in all collections.
    pub rewritten: u64,
    /// How many could not be.
    pub failed: u64,
    /// How many documents the plan has counted; 0 for a migration that goes on without a plan.
    pub planned: u64,
    /// Where to go on if the process is stopped after this.
    pub token: &'a MigrationToken,
}

pub(super) type Hear<'s> = Box<dyn FnMut(&MigrationProgress<'_>) + Send + 's>;

/// A migration about to run: [`MigrationPlan::run`](super::MigrationPlan::run).
///
/// It reads 500 documents at a time, or fewer if they are large, and rewrites them by one command. A document that another writer
/// changes meanwhile is read again. A dropped future leaves every document wholly old or wholly new.
#[must_use = "nothing is written until it is awaited"]
pub struct RunMigration<'s> {
    settings: Settings,
    token: MigrationToken,
    hear: Option<Hear<'s>>,
    planned: u64,
}

impl<'s> RunMigration<'s> {
    pub(super) fn new(
        settings: Settings,
        token: MigrationToken,
        hear: Option<Hear<'s>>,
        planned: u64,
    ) -> Self {
        Self {
            settings,
            token,
            hear,
            planned,
        }
    }

    /// Hears how far the migration is, after each batch.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let run = db.migrate(models![Person]).plan().await?.run();
    /// // A process that is stopped goes on from the last of these.
    /// run.on_progress(|now| println!("{}", now.token)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&MigrationProgress<'_>) + Send + 's) -> Self {
        Self {
            hear: Some(Box::new(hear)),
            ..self
        }
    }

    async fn run(mut self) -> Result<MigrationReport> {
        let started = Instant::now();
        let mut report = MigrationReport::default();
        while let Some(part) = self.token.parts.front().cloned() {
            let Some(one) = self.settings.of_collection(&part.collection) else {
                self.token.parts.pop_front();
                continue;
            };
            let mut channel = Channel::new(self.settings.store.clone(), None);
            let collection = channel.collection(one.model);
            let place = Place {
                model: one.model,
                schema: one.schema,
                collection: collection.clone(),
                options: Chosen::default(),
            };
            report.collections.push(Migrated {
                model: one.model.name,
                collection: collection.to_string(),
                rewritten: 0,
            });
            loop {
                let began = Instant::now();
                let limit = self.settings.time_limit;
                if limit.is_some_and(|limit| started.elapsed() >= limit) {
                    report.rest = Some(self.token);
                    return Ok(report);
                }
                let after = self.token.after.as_ref();
                let documents = batch(&mut channel, one, &part, after, self.settings.rate).await?;
                let Some(last) = documents.last() else {
                    break;
                };
                let last = id_of(last)?;
                let read = u32::try_from(documents.len()).unwrap_or(u32::MAX);
                write(&mut channel, &place, documents, &mut report).await?;
                self.token.after = Some(last);
                self.report(one, &report);
                if let Some(rate) = self.settings.rate {
                    let due = Duration::from_secs(1) * read / rate.max(1);
                    tokio::time::sleep(due.saturating_sub(began.elapsed())).await;
                }
            }
            self.token.parts.pop_front();
            self.token.after = None;
        }
        Ok(report)
    }

    /// Reports the progress.
    fn report(&mut self, one: Versioned, report: &MigrationReport) {
        if let Some(hear) = &mut self.hear {
            hear(&MigrationProgress {
                model: one.model.name,
                rewritten: report.rewritten(),
                failed: report.failed,
                planned: self.planned,
                token: &self.token,
            });
        }
    }
}

/// The next documents of older versions, by `_id`.
async fn batch(
    channel: &mut Channel<'_>,
    one: Versioned,
    part: &Part,
    after: Option<&Bson>,
    rate: Option<u32>,
) -> Result<Vec<RawDocumentBuf>> {
    // Unlike the query operators, expressions compare `_id`s of all types.
    let literal = |id: &Bson| doc! {"$literal": id.clone()};
    let mut range: Vec<Document> = vec![doc! {"$lte": ["$_id", literal(&part.last)]}];
    range.extend(after.map(|after| doc! {"$gt": ["$_id", literal(after)]}));
    let mut filter = one.schema.outdated();
    filter.insert("$expr", doc! {"$and": range});
    let limit = rate.unwrap_or(BATCH).clamp(1, BATCH);
    let find = Operation::Find {
        filter: filter.into(),
        one: false,
    };
    let options = Options {
        sort: Some(doc! {"_id": 1}),
        limit: Some(i64::from(limit)),
        ..channel.current()
    };
    let mut documents: Vec<RawDocumentBuf> = Vec::new();
    let mut bytes = 0;
    let read = channel
        .of(one.model)
        .read_while(find, options.into(), |document| {
            bytes += document.as_bytes().len();
            documents.push(document.to_owned());
            Ok(bytes < BATCH_BYTES)
        });
    read.await?;
    Ok(documents)
}

async fn write(
    channel: &mut Channel<'_>,
    place: &Place,
    documents: Vec<RawDocumentBuf>,
    report: &mut MigrationReport,
) -> Result<()> {
    let mut ids = Vec::with_capacity(documents.len());
    for document in &documents {
        ids.push(id_of(document)?);
    }
    let outcomes = rewrite(channel, place, documents).await?;
    let mut rewritten = 0;
    for (id, outcome) in ids.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Rewritten => rewritten += 1,
            // Another program has written or removed it meanwhile.
            Outcome::Gone | Outcome::Newer(_) => {}
            Outcome::Failed(error) => report.fail(place.model.name, id, error),
        }
    }
    if let Some(last) = report.collections.last_mut() {
        last.rewritten += rewritten;
    }
    Ok(())
}

impl<'s> IntoFuture for RunMigration<'s> {
    type Output = Result<MigrationReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for RunMigration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunMigration")
            .field("settings", &self.settings)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
