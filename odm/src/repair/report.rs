//! What a repair has written.

use std::collections::BTreeMap;
use std::fmt;

use bson::Bson;
use bson::oid::ObjectId;

use super::RepairToken;
use crate::check::FindingKind;
use crate::error::Error;
use crate::plan::shell;

/// The most documents that a report lists as not repaired.
const MOST_LISTED: usize = 100;

/// What a [repair](super::RepairPlan::run) has done.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RepairReport {
    /// How many findings were repaired, by model, kind and field.
    pub repairs: Vec<Repaired>,
    /// How many documents could not be repaired.
    pub failed: u64,
    /// The first 100 of them.
    pub not_repaired: Vec<NotRepaired>,
    /// The repair under which the documents are kept as they were: [`RunRepair::keep_images`](super::RunRepair::keep_images).
    pub images: Option<ObjectId>,
    /// Where to go on, if the [time limit](super::RunRepair::time_limit) ended the repair.
    pub rest: Option<RepairToken>,
}

/// A number of repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The Rust name of the model whose documents were written.
    pub model: &'static str,
    /// The kind of damage.
    pub kind: FindingKind,
    /// The stored path of the field; empty where whole documents were damaged.
    pub path: String,
    /// How many there were.
    pub count: u64,
}

/// A document that could not be repaired.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotRepaired {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The `_id` of the document.
    pub id: Bson,
    /// Why not: the validator or a unique index refuses it, the values that follow do not fit into its fields.
    pub error: Error,
}

impl RepairReport {
    /// How many findings were repaired.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// assert_eq!(plan.run().await?.repaired(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn repaired(&self) -> u64 {
        self.repairs.iter().map(|one| one.count).sum()
    }

    /// Whether the repair ended, and no document was left that it should have repaired.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # use odm::repair::Answer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// let plan = db.repair(models![Book]).answer::<Book, _, _>(|b| b.author, Answer::Delete).plan().await?;
    /// let report = plan.run().await?;
    /// assert!(report.is_complete(), "{report}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.rest.is_none()
    }
}

impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} repaired", self.repaired())?;
        for one in &self.repairs {
            write!(f, "  {} of `{}`", one.kind, one.model)?;
            if !one.path.is_empty() {
                write!(f, " at `{}`", one.path)?;
            }
            writeln!(f, ": {}", one.count)?;
        }
        if self.failed > 0 {
            writeln!(f, "{} not repaired", self.failed)?;
        }
        for one in &self.not_repaired {
            writeln!(f, "{one}")?;
        }
        if let Some(images) = self.images {
            writeln!(f, "undo it by `undo_repair` with {images}")?;
        }
        if let Some(rest) = &self.rest {
            writeln!(f, "stopped by the time limit; go on with {rest}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NotRepaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {}",
            self.model,
            shell::value(&self.id),
            self.error
        )
    }
}

/// Counts repairs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: BTreeMap<(&'static str, FindingKind, String), u64>,
    failed: u64,
    not_repaired: Vec<NotRepaired>,
    pub(super) repaired: u64,
}

impl Tally {
    pub(super) fn add(&mut self, model: &'static str, kind: FindingKind, path: &str, count: u64) {
        if count > 0 {
            self.repaired += count;
            let place = (model, kind, path.to_owned());
            *self.counts.entry(place).or_default() += count;
        }
    }

    pub(super) fn fail(&mut self, model: &'static str, id: Bson, error: Error) {
        self.failed += 1;
        if self.not_repaired.len() < MOST_LISTED {
            self.not_repaired.push(NotRepaired { model, id, error });
        }
    }

    pub(super) fn end(self, images: Option<ObjectId>, rest: Option<RepairToken>) -> RepairReport {
        let counts = self.counts.into_iter();
        let repairs = counts.map(|((model, kind, path), count)| Repaired {
            model,
            kind,
            path,
            count,
        });
        RepairReport {
            repairs: repairs.collect(),
            failed: self.failed,
            not_repaired: self.not_repaired,
            images,
            rest,
        }
    }
}
