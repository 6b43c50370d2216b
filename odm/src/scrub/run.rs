//! Runs a scrub: one range after the other.

use std::pin::pin;
use std::time::Duration;

use bson::{DateTime, doc};
use futures_core::future::BoxFuture;

use super::ranges::{self, Claim, Found};
use super::{Hear, Scrub};
use crate::check::{Aspect, Check, CheckReport, FindingKind, Settings};
use crate::error::Result;
use crate::store::Store;

/// How long a scrub waits while nothing is due, and after a failed connection.
const IDLE: Duration = Duration::from_secs(10);

/// What a [scrub](super::Scrub) has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScrubReport {
    /// How many ranges were checked. What is not about single documents, such as indexes and trees, is one for each collection.
    pub ranges: u64,
    /// How many documents were read.
    pub documents: u64,
    /// How many findings there were.
    pub findings: u64,
}

/// A scrub that runs.
struct Run<'s> {
    store: Store,
    settings: Settings,
    collections: Vec<&'static str>,
    every: Duration,
    range: u64,
    lease: Duration,
    hear: Option<Hear<'s>>,
    report: ScrubReport,
}

impl<'s> Run<'s> {
    async fn new(scrub: Scrub<'s>) -> Result<Self> {
        let Scrub {
            check,
            rate,
            range,
            every,
            hear,
        } = scrub;
        let mut settings = check.settings;
        settings.rate = Some(rate);
        let models = settings.models.iter();
        let collections: Vec<_> = models.map(|model| model.collection).collect();
        let store = settings.store.clone();
        ranges::prepare(&store, &collections).await?;
        let seconds = range.saturating_mul(4) / u64::from(rate) + 60;
        Ok(Self {
            store,
            settings,
            collections,
            every,
            range,
            lease: Duration::from_secs(seconds),
            hear,
            report: ScrubReport::default(),
        })
    }

    /// Checks the range that is due for the longest time; returns `false` if none was due by then.
    async fn step(&mut self, due_by: DateTime) -> Result<bool> {
        let claim = ranges::claim(&self.store, &self.collections, due_by, self.lease).await?;
        let Some(claim) = claim else {
            return Ok(false);
        };
        match self.check(&claim).await {
            Ok(report) => self.end(claim, report).await?,
            Err(error) => {
                // The failure of the check matters more.
                drop(claim.give_back(&self.store).await);
                return Err(error);
            }
        }
        Ok(true)
    }

    async fn check(&mut self, claim: &Claim) -> Result<CheckReport> {
        let mut settings = self.settings.clone();
        settings
            .models
            .retain(|model| model.collection == claim.collection);
        let whole = [Aspect::Trees, Aspect::Indexes, Aspect::UnfinishedChanges];
        let is_whole = claim.bounds.is_none();
        let mut check = Check::of(settings);
        for aspect in Aspect::ALL {
            if whole.contains(&aspect) != is_whole {
                check = check.without(aspect);
            }
        }
        let settings = &mut check.settings;
        if let Some(model) = settings.models.first() {
            let filter = claim.filter();
            if !filter.is_empty() {
                settings.filters.insert(model.collection, filter);
            }
        }
        settings.most = Some(self.range);
        let hear = &mut self.hear;
        let check = check.on_finding(|finding| {
            #[cfg(feature = "tracing")]
            tracing::warn!(
                target: "odm::scrub",
                { kind = finding.kind.code(), db.collection.name = finding.collection },
                "{finding}"
            );
            if let Some(hear) = hear {
                hear(finding);
            }
        });
        check.await
    }

    async fn end(&mut self, claim: Claim, report: CheckReport) -> Result<()> {
        let mut counts = doc! {};
        for count in &report.counts {
            let code = FindingKind::code(count.kind);
            let before = counts.get_i64(&code).unwrap_or_default();
            let more = i64::try_from(count.count).unwrap_or(i64::MAX);
            counts.insert(code, before.saturating_add(more));
        }
        self.report.ranges += 1;
        self.report.documents += report.read();
        self.report.findings += report.findings;
        #[cfg(feature = "tracing")]
        tracing::info!(
            target: "odm::scrub",
            { db.collection.name = claim.collection, documents = report.read(), findings = report.findings },
            "a range of {} was checked", claim.collection
        );
        let small = self.range / 4;
        let is_small = report.rest.is_none() && report.read() < small;
        let found = Found {
            read: report.read(),
            counts,
            joins_below: is_small.then_some(small),
            end: report.rest.and_then(|token| token.after),
        };
        claim.end(&self.store, found, self.every).await
    }
}

/// Checks what is due.
pub(super) async fn once(scrub: Scrub<'_>) -> Result<ScrubReport> {
    let mut run = Run::new(scrub).await?;
    let now = DateTime::now();
    while run.step(now).await? {}
    Ok(run.report)
}

/// Checks what is due, and waits for what is, until the future is ready.
pub(super) async fn until(scrub: Scrub<'_>, stop: impl Future) -> Result<ScrubReport> {
    let mut stop = pin!(stop);
    let mut run = Run::new(scrub).await?;
    loop {
        let ended = {
            let step: BoxFuture<'_, _> = Box::pin(async {
                match run.step(DateTime::now()).await {
                    Ok(true) => Ok(()),
                    Ok(false) => {
                        tokio::time::sleep(IDLE).await;
                        Ok(())
                    }
                    Err(error) if error.is_connection() || error.is_retryable() => {
                        tokio::time::sleep(IDLE).await;
                        Ok(())
                    }
                    Err(error) => Err(error),
                }
            });
            first(step, stop.as_mut()).await
        };
        match ended {
            Some(stepped) => stepped?,
            None => return Ok(run.report),
        }
    }
}

/// Waits for the first future; returns `None` if the second one is ready before.
async fn first<T>(
    mut one: BoxFuture<'_, T>,
    mut stop: std::pin::Pin<&mut impl Future>,
) -> Option<T> {
    std::future::poll_fn(|context| {
        if stop.as_mut().poll(context).is_ready() {
            return std::task::Poll::Ready(None);
        }
        one.as_mut().poll(context).map(Some)
    })
    .await
}
