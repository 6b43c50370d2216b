//! What a migration has written.

use std::fmt;

use bson::Bson;

use super::MigrationToken;
use crate::error::Error;

/// How many documents that could not be rewritten are listed.
const MOST_LISTED: usize = 100;

/// What a migration has written.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct MigrationReport {
    /// What was written in each collection.
    pub collections: Vec<Migrated>,
    /// How many documents could not be rewritten; they are as they were.
    pub failed: u64,
    /// The first hundred of them.
    pub not_migrated: Vec<NotMigrated>,
    /// Where to go on, if the time was over.
    pub rest: Option<MigrationToken>,
}

/// What a migration has written in one collection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The name of the collection.
    pub collection: String,
    /// How many documents were rewritten.
    pub rewritten: u64,
}

/// A document that could not be rewritten.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotMigrated {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The `_id` of the document.
    pub id: Bson,
    /// The error, which names the step that failed.
    pub error: Error,
}

impl MigrationReport {
    /// How many documents were rewritten, in all collections.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// assert_eq!(db.migrate(models![Person]).await?.rewritten(), 2);
    /// assert_eq!(db.migrate(models![Person]).await?.rewritten(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rewritten(&self) -> u64 {
        self.collections.iter().map(|one| one.rewritten).sum()
    }

    /// Whether all documents of the plan were rewritten.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// // The step needs a name.
    /// db.run_command(doc! {"insert": "people", "documents": [{"_id": 3}]}).await?;
    /// let report = db.migrate(models![Person]).await?;
    /// assert!(!report.is_complete());
    /// assert_eq!((report.rewritten(), report.failed), (2, 1));
    /// assert!(report.not_migrated[0].error.is_schema_upgrade());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.rest.is_none()
    }

    pub(super) fn fail(&mut self, model: &'static str, id: Bson, error: Error) {
        self.failed += 1;
        if self.not_migrated.len() < MOST_LISTED {
            self.not_migrated.push(NotMigrated { model, id, error });
        }
    }
}

impl fmt::Display for MigrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} rewritten", self.rewritten())?;
        for one in &self.collections {
            writeln!(f, "  {}: {}", one.model, one.rewritten)?;
        }
        if self.failed > 0 {
            writeln!(f, "{} not rewritten", self.failed)?;
        }
        for one in &self.not_migrated {
            writeln!(f, "{one}")?;
        }
        if let Some(rest) = &self.rest {
            writeln!(f, "stopped by the time limit; go on with {rest}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NotMigrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The error names the model and the document.
        fmt::Display::fmt(&self.error, f)
    }
}
