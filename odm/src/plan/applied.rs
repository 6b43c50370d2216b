//! The result of applying a plan.

use std::fmt;

use super::step::{Step, documents, print_steps};
use crate::error::{Error, Result};

/// The result of applying a plan: the steps that were done, and those that were not allowed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Applied {
    pub(super) done: Vec<Step>,
    pub(super) left: Vec<Step>,
    pub(super) written: u64,
    pub(super) unmatched: u64,
}

impl Applied {
    /// The steps that were done, in order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let plan = Db::memory().sync(models![Book]).plan().await?;
    /// assert_eq!(plan.apply(Allow::CREATE).await?.done().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn done(&self) -> &[Step] {
        &self.done
    }

    /// The steps that were not allowed, or that no command can do.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// // The collection is there, but it has no validator.
    /// let plan = db.sync(models![Book]).plan().await?;
    /// let applied = plan.apply(Allow::CREATE).await?;
    /// assert_eq!(applied.left_undone(), plan.steps());
    /// # Ok(())
    /// # }
    /// ```
    pub fn left_undone(&self) -> &[Step] {
        &self.left
    }

    /// How many documents were inserted, changed or deleted.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let update = books
    ///     .bulk_write(|w| [w.update_one(|b| b.id.eq(1) & b.year.eq(1815), |b| b.year.set(1816))]);
    /// let plan = update.plan("the year was wrong")?;
    /// assert_eq!(plan.apply(Allow::WRITE).await?.written(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn written(&self) -> u64 {
        self.written
    }

    /// How many writes of a single document matched none, because it has changed since the plan was made. Plan
    /// again to see what it needs now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let update = books
    ///     .bulk_write(|w| [w.update_one(|b| b.id.eq(1) & b.year.eq(1815), |b| b.year.set(1816))]);
    /// let plan = update.plan("the year was wrong")?;
    /// books.delete_one(|b| b.id.eq(1)).await?;
    /// assert_eq!(plan.apply(Allow::WRITE).await?.unmatched(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Whether nothing was left undone.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let plan = Db::memory().sync(models![Book]).plan().await?;
    /// assert!(plan.apply(Allow::CREATE).await?.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_complete(&self) -> bool {
        self.left.is_empty() && self.unmatched == 0
    }

    /// Returns an error that lists what was left undone, for programs that must not start with a database that is out of
    /// date. With the feature `tracing`, applying a plan logs a warning in any case.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, title: String }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
    /// db.run_command(doc! {"createIndexes": "books", "indexes": [{"key": {"x": 1}, "name": "mine"}]}).await?;
    ///
    /// let applied = db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
    /// let error = applied.require_complete().unwrap_err();
    /// assert!(error.to_string().contains("drop index mine (needs Allow::DROP)"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Steps were not allowed, or can only be done by hand; or documents that a plan of writes names have changed since.
    pub fn require_complete(self) -> Result<Self> {
        if self.is_complete() {
            return Ok(self);
        }
        Err(Error::usage(format!(
            "a plan was not applied completely\n{self}"
        )))
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = |count: usize| if count == 1 { "step" } else { "steps" };
        writeln!(f, "{} {} done", self.done.len(), steps(self.done.len()))?;
        print_steps(&self.done, f)?;
        if !self.left.is_empty() {
            writeln!(
                f,
                "{} {} left undone",
                self.left.len(),
                steps(self.left.len())
            )?;
            print_steps(&self.left, f)?;
        }
        if self.unmatched > 0 {
            writeln!(f, "{} not found as planned", documents(self.unmatched))?;
        }
        Ok(())
    }
}
