//! Changes of a database as data: printed, then applied.
//!
//! A [`Plan`] is a list of [`Step`]s, each with the commands that it sends. Steps change definitions (collections,
//! validators, indexes) or documents. [`Plan::apply`] runs the steps that [`Allow`] covers and returns what it
//! [`Applied`].

mod allow;
mod applied;
mod apply;
pub(crate) mod shell;
mod step;
mod writes;

use std::fmt;

use bson::Document;

pub use self::allow::Allow;
pub use self::applied::Applied;
pub use self::apply::{Apply, Progress};
pub use self::step::{Action, Step};
pub(crate) use self::step::{Settled, describe, documents, print_steps};
use crate::store::Store;

/// The steps that would bring a database in line with its models.
///
/// Print the plan to read it; [`steps`](Self::steps) and [`commands`](Self::commands) return it as data. A
/// plan changes nothing until it is applied.
#[derive(Debug, Clone)]
#[must_use = "a plan does nothing until it is applied"]
pub struct Plan {
    store: Store,
    steps: Vec<Step>,
    left_out: Vec<Step>,
}

impl Plan {
    pub(crate) fn new(store: Store, steps: Vec<Step>) -> Self {
        Self {
            store,
            steps,
            left_out: Vec::new(),
        }
    }

    /// The plan, which lists steps that do not apply to this deployment.
    pub(crate) fn leaving_out(self, left_out: Vec<Step>) -> Self {
        Self { left_out, ..self }
    }

    /// Whether the database is already in line with the models.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let plan = db.sync(models![Book]).plan().await?;
    /// plan.apply(Allow::CREATE | Allow::CHANGE).await?;
    /// assert!(db.sync(models![Book]).plan().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps, in the order in which they are applied.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let plan = Db::memory().sync(models![Book]).plan().await?;
    /// assert_eq!(plan.steps()[0].collection, "books");
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The steps that declarations ask for and that this deployment can't take: a single server and the engine in memory do not
    /// shard collections. The plan is complete without them.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "readings", shard_key(host = hashed))]
    /// struct Reading { #[serde(rename = "_id")] id: i32, host: String }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let db = Db::memory();
    /// let plan = db.sync(models![Reading]).plan().await?;
    /// let shard = &plan.left_out()[0].commands[1];
    /// assert_eq!(shard.get_str("shardCollection").unwrap(), "test.readings");
    /// assert!(plan.apply(Allow::CREATE).await?.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    pub fn left_out(&self) -> &[Step] {
        &self.left_out
    }

    /// The commands of all steps, in order, including steps that may not be allowed.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let plan = Db::memory().sync(models![Book]).plan().await?;
    /// assert_eq!(plan.commands().count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn commands(&self) -> impl Iterator<Item = &Document> {
        self.steps.iter().flat_map(|step| &step.commands)
    }

    /// Sends the commands of the allowed steps, and returns which steps were done and which were left undone.
    ///
    /// [`Allow::CREATE`] adds what is missing and leaves everything else alone.
    /// `Allow::CREATE | Allow::CHANGE | Allow::DROP` also allows changes and drops.
    ///
    /// A step that writes documents sends at most 1,000 writes at a time.
    /// [`on_progress`](Apply::on_progress) reports after each command.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let plan = db.sync(models![Book]).plan().await?;
    /// assert!(!plan.apply(Allow::NOTHING).await?.is_complete());
    /// assert!(plan.apply(Allow::CREATE).await?.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of the server, such as a unique index over duplicates. The steps before it stay done.
    /// If its own step had dropped indexes, they are put back, and the error says so. Plan again to see what
    /// remains.
    pub fn apply(&self, allow: Allow) -> Apply<'_> {
        Apply::new(self, allow)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.store.database();
        match self.steps.len() {
            0 => writeln!(f, "database {database} matches its models")?,
            1 => writeln!(f, "1 step to bring database {database} in line")?,
            count => writeln!(f, "{count} steps to bring database {database} in line")?,
        }
        print_steps(&self.steps, f)?;
        if !self.left_out.is_empty() {
            writeln!(
                f,
                "left out, because the deployment is not a sharded cluster"
            )?;
            print_steps(&self.left_out, f)?;
        }
        Ok(())
    }
}
