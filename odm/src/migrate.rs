//! Versions of a schema: stored documents of older versions, made current.
//!
//! A model declares the version that the program writes, and a function for each step to it:
//! `#[odm(schema(version = 2, steps(split_name)))]`. Typed reads pass older documents through the steps, so that a new program works
//! on old data at once. A save and an update rewrite the documents that they change. [`Db::migrate`] rewrites the rest, and
//! [`upgrade`] takes a recorded document through the steps in a test.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (db, people) = two_people().await?;
//! // Stored by an older program as `{name: "Ada Lovelace"}`.
//! let ada = people.get(&1).await?.ok_or("no Ada")?;
//! assert_eq!((&*ada.given_name, &*ada.family_name), ("Ada", "Lovelace"));
//!
//! let plan = db.migrate(models![Person]).plan().await?;
//! println!("{plan}");
//! // Person: 2 documents before version 2
//! let report = plan.run().await?;
//! assert_eq!(report.rewritten(), 2);
//! assert_eq!(people.count_outdated().await?, 0);
//! # Ok(())
//! # }
//! ```
//!
//! Each document is replaced as a whole, under the condition that it is as it was read. A migration that is stopped leaves every
//! document wholly old or wholly new, and another one does the rest.

mod plan;
mod report;
mod run;
mod token;

use std::fmt;
use std::time::Duration;

use bson::raw::RawDocumentBuf;
use futures_core::future::BoxFuture;

pub use self::plan::{MigrationPlan, MigrationStep};
pub use self::report::{Migrated, MigrationReport, NotMigrated};
pub use self::run::{MigrationProgress, RunMigration};
pub use self::token::MigrationToken;
use crate::collection::{Db, decode_document};
use crate::error::{Error, Result};
use crate::model::{Document, ModelMeta, SchemaMeta};
use crate::store::Store;

/// A migration about to be planned: [`Db::migrate`].
#[must_use = "nothing is read until `plan` is awaited"]
pub struct Migrate<'s> {
    settings: Settings,
    hear: Option<run::Hear<'s>>,
}

/// What a migration works on.
#[derive(Debug, Clone)]
struct Settings {
    store: Store,
    models: Vec<Versioned>,
    rate: Option<u32>,
    time_limit: Option<Duration>,
}

/// A model with versions.
#[derive(Debug, Clone, Copy)]
struct Versioned {
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
}

impl Db {
    /// Rewrites the stored documents of older versions as the version that the program writes. Models without versions have none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let report = db.migrate(models![Person]).await?;
    /// assert!(report.is_complete());
    /// assert_eq!(report.rewritten(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn migrate<'s>(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Migrate<'s> {
        let mut all: Vec<Versioned> = Vec::new();
        for model in models {
            if let Some(schema) = model.schema
                && all
                    .iter()
                    .all(|one| one.model.collection != model.collection)
            {
                all.push(Versioned { model, schema });
            }
        }
        Migrate {
            settings: Settings {
                store: self.store.clone(),
                models: all,
                rate: None,
                time_limit: None,
            },
            hear: None,
        }
    }
}

impl<'s> Migrate<'s> {
    /// Rewrites at most this many documents in a second.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let report = db.migrate(models![Person]).documents_per_second(10_000).await?;
    /// assert_eq!(report.rewritten(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn documents_per_second(mut self, documents: u32) -> Self {
        self.settings.rate = Some(documents.max(1));
        self
    }

    /// Stops after this time, between two batches: the report's [`rest`](MigrationReport::rest) says where to go on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// use std::time::Duration;
    ///
    /// let report = db.migrate(models![Person]).time_limit(Duration::ZERO).await?;
    /// let token = report.rest.ok_or("it is complete")?;
    /// let report = db.migrate(models![Person]).resume(token)?.await?;
    /// assert!(report.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Hears how far the migration is, after each batch.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let migrate = db.migrate(models![Person]);
    /// migrate.on_progress(|now| println!("{} of {}", now.rewritten, now.planned)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(self, hear: impl FnMut(&MigrationProgress<'_>) + Send + 's) -> Self {
        Self {
            hear: Some(Box::new(hear)),
            ..self
        }
    }

    /// Counts the documents of other versions, and fixes which documents [`run`](MigrationPlan::run) rewrites. It only reads.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// let plan = db.migrate(models![Person]).plan().await?;
    /// assert_eq!((plan.steps()[0].outdated, plan.steps()[0].newer), (2, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A read failed.
    pub async fn plan(self) -> Result<MigrationPlan<'s>> {
        plan::plan(self).await
    }

    /// Goes on where a migration stopped, without another plan: the documents are those of the first one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, people) = two_people().await?;
    /// use odm::migrate::MigrationToken;
    ///
    /// // Kept in a file by a process that was stopped.
    /// let text = r#"{"collections":[{"collection":"people","last":{"$numberInt":"2"}}],"after":{"$numberInt":"1"}}"#;
    /// let token: MigrationToken = text.parse()?;
    /// let report = db.migrate(models![Person]).resume(token)?.await?;
    /// assert_eq!(report.rewritten(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The token is of a migration of other models.
    pub fn resume(self, token: MigrationToken) -> Result<RunMigration<'s>> {
        for part in &token.parts {
            if self.settings.of_collection(&part.collection).is_none() {
                let models = self.settings.models.iter();
                let models: Vec<_> = models
                    .map(|one| format!("`{}`", one.model.collection))
                    .collect();
                return Err(Error::usage(format!(
                    "the token is of a migration of the collection `{}`, and this one migrates {}: list the same models",
                    part.collection,
                    if models.is_empty() {
                        "none".to_owned()
                    } else {
                        models.join(", ")
                    },
                )));
            }
        }
        Ok(RunMigration::new(self.settings, token, self.hear, 0))
    }
}

impl Settings {
    /// The model of a declared collection.
    fn of_collection(&self, collection: &str) -> Option<Versioned> {
        let mut models = self.models.iter().copied();
        models.find(|one| one.model.collection == collection)
    }
}

impl<'s> IntoFuture for Migrate<'s> {
    type Output = Result<MigrationReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.plan().await?.run().await })
    }
}

impl fmt::Debug for Migrate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Migrate")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Takes a document of any version through the steps, and decodes it: for tests of steps with recorded documents.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/people.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use odm::migrate::upgrade;
///
/// let ada: Person = upgrade(doc! {"_id": 1, "name": "Ada Lovelace"})?;
/// assert_eq!((&*ada.given_name, &*ada.family_name), ("Ada", "Lovelace"));
///
/// let error = upgrade::<Person>(doc! {"_id": 2}).unwrap_err();
/// assert!(error.is_schema_upgrade());
/// assert!(error.to_string().ends_with("has version 1, and the step `split_name` failed: no `name`"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As a read of the document: [`is_schema_upgrade`](Error::is_schema_upgrade), [`is_newer_schema`](Error::is_newer_schema) or
/// [`is_decode`](Error::is_decode).
#[expect(
    clippy::needless_pass_by_value,
    reason = "a test writes `doc! {…}` here"
)]
pub fn upgrade<M: Document>(document: bson::Document) -> Result<M> {
    let raw = RawDocumentBuf::try_from(&document).map_err(Error::encode)?;
    decode_document(&raw)
}
