//! How far a scrub is.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use bson::{Bson, DateTime};

use super::ranges;
use crate::collection::Db;
use crate::error::Result;
use crate::model::ModelMeta;

/// How far the scrub of some models is, by all processes: [`Db::scrub_status`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScrubStatus {
    /// When the check of the range began that was checked the longest time ago; `None` if no scrub has begun. A range that was never
    /// checked counts from the time when it was first known.
    pub oldest: Option<DateTime>,
    /// How many ranges there are.
    pub ranges: u64,
    /// How many documents the last checks of the ranges have read.
    pub documents: u64,
    /// How many findings the last checks of the ranges have had, by their [codes](crate::check::FindingKind::code).
    pub findings: BTreeMap<String, u64>,
}

impl Db {
    /// Returns how far the scrub of these models is.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// assert_eq!(db.scrub_status(models![Book]).await?.oldest, None);
    /// db.scrub(models![Book]).await?;
    /// let status = db.scrub_status(models![Book]).await?;
    /// assert_eq!((status.documents, status.findings.len()), (3, 0));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn scrub_status(
        &self,
        models: impl IntoIterator<Item = &'static ModelMeta>,
    ) -> Result<ScrubStatus> {
        let models = ModelMeta::wholes(models).into_iter();
        let collections: Vec<_> = models.map(|model| model.collection).collect();
        let mut status = ScrubStatus {
            oldest: None,
            ranges: 0,
            documents: 0,
            findings: BTreeMap::new(),
        };
        for range in ranges::all(&self.store, &collections).await? {
            let checked = range.get_datetime("checked").ok().copied();
            status.oldest = match (status.oldest, checked) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            status.ranges += 1;
            status.documents += number(range.get("read"));
            for (code, count) in range.get_document("counts").into_iter().flatten() {
                *status.findings.entry(code.clone()).or_default() += number(Some(count));
            }
        }
        Ok(status)
    }
}

impl ScrubStatus {
    /// How long ago the oldest check of a range began, by the clock of this machine; `None` if no scrub has begun. It is the number
    /// to alarm on: it stays below the time after which ranges are checked again, and a little, while the scrub keeps up.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// db.scrub(models![Book]).await?;
    /// let age = db.scrub_status(models![Book]).await?.age();
    /// assert!(age.is_some_and(|age| age.as_secs() < 60));
    /// # Ok(())
    /// # }
    /// ```
    pub fn age(&self) -> Option<Duration> {
        let oldest = self.oldest?;
        let now = DateTime::now().timestamp_millis();
        let millis = now.saturating_sub(oldest.timestamp_millis());
        Some(Duration::from_millis(
            u64::try_from(millis).unwrap_or_default(),
        ))
    }
}

impl fmt::Display for ScrubStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.oldest {
            None => writeln!(f, "no scrub has begun")?,
            Some(oldest) => writeln!(
                f,
                "{} documents in {} ranges, the oldest checked at {oldest}",
                self.documents, self.ranges
            )?,
        }
        for (code, count) in &self.findings {
            writeln!(f, "  {code}: {count}")?;
        }
        Ok(())
    }
}

fn number(value: Option<&Bson>) -> u64 {
    match value {
        Some(Bson::Int64(number)) => u64::try_from(*number).unwrap_or_default(),
        Some(Bson::Int32(number)) => u64::try_from(*number).unwrap_or_default(),
        _ => 0,
    }
}
