//! What a migration will write.

use std::collections::VecDeque;
use std::fmt;

use bson::{Bson, Document, doc};

use super::token::Part;
use super::{Migrate, MigrationToken, RunMigration, Settings, Versioned, run};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::plan;
use crate::store::Operation;
use crate::store::options::Options;

/// What a migration will write: [`Migrate::plan`]. It writes nothing before [`run`](Self::run) is awaited.
#[must_use = "a plan writes nothing until `run` is awaited"]
pub struct MigrationPlan<'s> {
    settings: Settings,
    steps: Vec<MigrationStep>,
    token: MigrationToken,
    hear: Option<run::Hear<'s>>,
}

/// What a migration will write in one collection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationStep {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The name of the collection.
    pub collection: String,
    /// The version that the program writes.
    pub version: i32,
    /// How many documents have an older version, or one that is not a number.
    pub outdated: u64,
    /// How many documents have a newer version; they stay as they are.
    pub newer: u64,
}

impl<'s> MigrationPlan<'s> {
    /// What will be written in each collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let plan = db.migrate(models![Person]).plan().await?;
    /// assert_eq!((plan.steps()[0].model, plan.steps()[0].outdated), ("Person", 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self) -> &[MigrationStep] {
        &self.steps
    }

    /// Whether all documents have the version that the program writes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// assert!(!db.migrate(models![Person]).plan().await?.is_empty());
    /// db.migrate(models![Person]).await?;
    /// assert!(db.migrate(models![Person]).plan().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| step.outdated == 0)
    }

    /// Rewrites the documents that were older when the plan was made. Documents that other programs have inserted since behind the
    /// last of them are not among these, so that a migration ends while old programs write.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let report = db.migrate(models![Person]).plan().await?.run().await?;
    /// assert_eq!(report.rewritten(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(self) -> RunMigration<'s> {
        let planned = self.steps.iter().map(|step| step.outdated).sum();
        RunMigration::new(self.settings, self.token, self.hear, planned)
    }
}

/// Counts the documents of other versions.
pub(super) async fn plan(migrate: Migrate<'_>) -> Result<MigrationPlan<'_>> {
    let Migrate { settings, hear } = migrate;
    let mut steps = Vec::new();
    let mut parts = VecDeque::new();
    for one in &settings.models {
        let mut channel = Channel::new(settings.store.clone(), None);
        // First the end, then the numbers: what is inserted between the two is counted, and not migrated.
        if let Some(last) = last(&mut channel, *one).await? {
            parts.push_back(Part {
                collection: one.model.collection.to_owned(),
                last,
            });
        }
        let outdated = count(&mut channel, *one, one.schema.outdated()).await?;
        let newer = count(&mut channel, *one, one.schema.newer()).await?;
        steps.push(MigrationStep {
            model: one.model.name,
            collection: channel.collection(one.model).to_string(),
            version: one.schema.version,
            outdated,
            newer,
        });
    }
    Ok(MigrationPlan {
        settings,
        steps,
        token: MigrationToken { parts, after: None },
        hear,
    })
}

/// The largest `_id` of a document of an older version.
async fn last(channel: &mut Channel<'_>, one: Versioned) -> Result<Option<Bson>> {
    let find = Operation::Find {
        filter: one.schema.outdated().into(),
        one: true,
    };
    let options = Options {
        sort: Some(doc! {"_id": -1}),
        projection: Some(doc! {"_id": 1}),
        ..channel.current()
    };
    let found = channel
        .of(one.model)
        .documents(find, options.into())
        .await?;
    match found.first() {
        None => Ok(None),
        Some(found) => {
            let id = found.get("_id").map_err(Error::encode)?;
            let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
            Bson::try_from(id).map(Some).map_err(Error::encode)
        }
    }
}

async fn count(channel: &mut Channel<'_>, one: Versioned, filter: Document) -> Result<u64> {
    let pipeline = vec![doc! {"$match": filter}];
    let options = channel.current().into();
    let counted = channel.of(one.model);
    counted
        .count(Operation::Aggregate { pipeline }, options)
        .await
}

impl fmt::Display for MigrationPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return writeln!(f, "no model has versions");
        }
        for step in &self.steps {
            let outdated = plan::documents(step.outdated);
            write!(
                f,
                "{}: {outdated} before version {}",
                step.model, step.version
            )?;
            if step.newer > 0 {
                write!(f, ", {} of newer versions", step.newer)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for MigrationPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MigrationPlan")
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}
