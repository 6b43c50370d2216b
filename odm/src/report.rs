//! A report of a database in one HTML file: what its models declare, and whether the database and the data agree.
//!
//! [`Db::report`] draws the models, plans what [`sync`](Db::sync) would change, [checks](crate::check) stored documents and
//! asks for [advice](crate::advise). [`DatabaseReport`] has the results as values, and [`html`](DatabaseReport::html) writes them as
//! a page without scripts, which loads nothing. It writes nothing to the database.
//!
//! This module finds nothing by itself: each part is what its own call returns, so that a program which acts on
//! findings calls that.
//!
//! A page holds names, numbers and, of documents with findings, their ids and the values concerned: keep it where the data
//! may be seen.

mod collect;
mod design;
mod fields;
mod page;
mod parts;

use std::fmt;

use futures_core::future::BoxFuture;

pub use self::design::{DesignNote, DesignOutcome};
pub use self::parts::{DatabaseReport, Part, ReportedModel};
use crate::advise::Advise;
use crate::check::Check;
use crate::collection::Db;
use crate::error::Result;
use crate::model::ModelMeta;

/// How many documents of a collection the check reads, unless the caller chooses otherwise.
const SAMPLE: u64 = 10_000;

impl Db {
    /// Makes a report of the database for these models: an HTML page, and the same as values.
    ///
    /// Name all models of the database: relations to others are drawn, and nothing else is known of them.
    ///
    /// It costs what its parts cost, one after the other. [`sync`](Db::sync) reads definitions, [`advise`](Db::advise) a sample of
    /// 10,000 documents of each model. [`check`](Db::check) reads all documents if no collection has more than 10,000, and a sample
    /// of 10,000 of each otherwise; a sample says nothing about trees. [`check`](MakeReport::check) and
    /// [`advise`](MakeReport::advise) choose otherwise.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let report = db.report(models![Publisher, Author, Book]).title("Our shelf").await?;
    /// assert!(report.plan.value().is_some_and(|plan| plan.is_empty()));
    /// assert!(report.check.value().is_some_and(|check| check.is_sound()));
    /// # let folder = std::env::temp_dir();
    /// std::fs::write(folder.join("report.html"), report.html())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The database can't be reached, or an option of the check is refused. A part that fails for another reason, such as a missing
    /// privilege, is a sentence in the report: [`Part::Failed`].
    pub fn report<'s>(
        &self,
        models: impl IntoIterator<Item = &'static ModelMeta>,
    ) -> MakeReport<'s> {
        MakeReport {
            db: self.clone(),
            models: ModelMeta::wholes(models),
            title: None,
            check: Wanted::Usual,
            advise: Wanted::Usual,
        }
    }
}

/// A report about to be made: [`Db::report`].
#[must_use = "nothing is read until it is awaited"]
pub struct MakeReport<'s> {
    db: Db,
    models: Vec<&'static ModelMeta>,
    title: Option<String>,
    check: Wanted<Check<'s>>,
    advise: Wanted<Advise<'s>>,
}

/// A part that can be left out.
enum Wanted<T> {
    Usual,
    As(T),
    LeftOut,
}

impl<'s> MakeReport<'s> {
    /// Sets the title of the page; the name of the database, if it is not called.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let report = db.report(models![Book]).title("Books & more").await?;
    /// assert!(report.html().contains("<title>Books &amp; more</title>"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Chooses what is checked: `configure` gets a check of all aspects and documents, as [`Db::check`] makes it.
    ///
    /// A check of everything reads each collection once, which takes long where there are millions of documents.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// use std::time::Duration;
    /// use odm::check::Aspect;
    ///
    /// let report = db
    ///     .report(models![Publisher, Author, Book])
    ///     .check(|check| check.without(Aspect::UndeclaredFields).time_limit(Duration::from_secs(60)))
    ///     .await?;
    /// assert_eq!(report.check.value().map(|check| check.read()), Some(6));
    /// # Ok(())
    /// # }
    /// ```
    pub fn check(mut self, configure: impl FnOnce(Check<'s>) -> Check<'s>) -> Self {
        self.check = Wanted::As(configure(self.db.check(self.models.clone())));
        self
    }

    /// Leaves the check out: no documents are compared.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let report = db.report(models![Book]).without_check().await?;
    /// assert!(report.check.is_left_out());
    /// # Ok(())
    /// # }
    /// ```
    pub fn without_check(mut self) -> Self {
        self.check = Wanted::LeftOut;
        self
    }

    /// Chooses what advice is asked for: `configure` gets the options of [`Db::advise`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let report = db.report(models![Playlist]).advise(|advise| advise.sample(5)).await?;
    /// assert_eq!(report.advice.value().map(|advice| advice.sampled[0].of), Some(20));
    /// # Ok(())
    /// # }
    /// ```
    pub fn advise(mut self, configure: impl FnOnce(Advise<'s>) -> Advise<'s>) -> Self {
        self.advise = Wanted::As(configure(self.db.advise(self.models.clone())));
        self
    }

    /// Leaves advice out: no sample is read for it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let report = db.report(models![Playlist]).without_advice().await?;
    /// assert!(report.advice.is_left_out());
    /// # Ok(())
    /// # }
    /// ```
    pub fn without_advice(mut self) -> Self {
        self.advise = Wanted::LeftOut;
        self
    }
}

impl<'s> IntoFuture for MakeReport<'s> {
    type Output = Result<DatabaseReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(collect::collect(self))
    }
}

impl fmt::Debug for MakeReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = self.models.iter().map(|model| model.name);
        f.debug_tuple("MakeReport")
            .field(&models.collect::<Vec<_>>())
            .finish()
    }
}
