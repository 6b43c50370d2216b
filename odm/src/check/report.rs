//! The report of a check.

use std::collections::BTreeMap;
use std::fmt;

use super::{CheckToken, Finding, FindingKind, HearFinding};
use crate::plan;

/// How many findings of one kind at one path are listed.
const LISTED: u64 = 100;

/// The most findings that a report lists.
const MOST_LISTED: usize = 10_000;

/// The most paths that are counted apart: fields that are not declared may have any names.
const MOST_COUNTED: usize = 10_000;

/// What a [check](super::Check) found.
///
/// `Display` shows the numbers, and then the listed findings.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The collections that were read, in the order of the models.
    pub collections: Vec<CheckedCollection>,
    /// How many findings there are.
    pub findings: u64,
    /// How many there are of each kind at each path, for at most 10,000 paths.
    pub counts: Vec<FindingCount>,
    /// The first 100 findings of each kind at each path, at most 10,000 in all. [`on_finding`](super::Check::on_finding) gets
    /// every finding.
    pub listed: Vec<Finding>,
    /// What was not checked, and why: a sentence for each.
    pub not_checked: Vec<String>,
    /// Where to go on, if the [time limit](super::Check::time_limit) ended the check.
    pub rest: Option<CheckToken>,
}

/// A collection that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedCollection {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The name of the collection.
    pub collection: String,
    /// How many documents were read.
    pub read: u64,
}

/// A number of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingCount {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The kind.
    pub kind: FindingKind,
    /// The stored path of the field; empty for findings about whole documents.
    pub path: String,
    /// How many there are.
    pub count: u64,
}

impl CheckReport {
    /// Whether everything was checked, and nothing was found.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let report = db.check(models![Author, Book]).await?;
    /// assert!(report.is_sound(), "{report}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_sound(&self) -> bool {
        self.findings == 0 && self.rest.is_none() && self.not_checked.is_empty()
    }

    /// How many documents were read.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// assert_eq!(db.check(models![Book]).await?.read(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(&self) -> u64 {
        self.collections.iter().map(|one| one.read).sum()
    }

    /// The listed findings as lines of JSON: [`Finding::to_json`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let report = db.check(models![Book]).await?;
    /// assert_eq!(report.to_json_lines().lines().count(), report.listed.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_json_lines(&self) -> String {
        let lines = self.listed.iter().map(|finding| finding.to_json() + "\n");
        lines.collect()
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = plan::documents(self.read());
        match self.findings {
            0 => writeln!(f, "{read} read, nothing found")?,
            1 => writeln!(f, "{read} read, 1 finding")?,
            count => writeln!(f, "{read} read, {count} findings")?,
        }
        for count in &self.counts {
            write!(f, "  {} of `{}`", count.kind, count.model)?;
            if !count.path.is_empty() {
                write!(f, " at `{}`", count.path)?;
            }
            writeln!(f, ": {}", count.count)?;
        }
        for sentence in &self.not_checked {
            writeln!(f, "not checked: {sentence}")?;
        }
        if let Some(rest) = &self.rest {
            writeln!(f, "stopped by the time limit; go on with {rest}")?;
        }
        for finding in &self.listed {
            writeln!(f, "{finding}")?;
        }
        Ok(())
    }
}

/// Counts findings, and lists the first.
pub(super) struct Tally<'s> {
    pub(super) report: CheckReport,
    counts: BTreeMap<(&'static str, FindingKind, String), u64>,
    hear: Option<HearFinding<'s>>,
}

impl<'s> Tally<'s> {
    pub(super) fn new(hear: Option<HearFinding<'s>>) -> Self {
        Self {
            report: CheckReport::default(),
            counts: BTreeMap::new(),
            hear,
        }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        if let Some(hear) = &mut self.hear {
            hear(&finding);
        }
        self.report.findings += 1;
        let place = (finding.model, finding.kind, finding.path.clone());
        let is_counted = self.counts.len() < MOST_COUNTED || self.counts.contains_key(&place);
        if !is_counted {
            return;
        }
        let count = self.counts.entry(place).or_default();
        *count += 1;
        if *count <= LISTED && self.report.listed.len() < MOST_LISTED {
            self.report.listed.push(finding);
        }
    }

    pub(super) fn end(mut self, rest: Option<CheckToken>) -> CheckReport {
        let counts = self.counts.into_iter();
        let counts = counts.map(|((model, kind, path), count)| FindingCount {
            model,
            kind,
            path,
            count,
        });
        self.report.counts = counts.collect();
        self.report.rest = rest;
        self.report
    }
}
