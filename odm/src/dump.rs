//! Folders of files that an in-memory database is filled from, and written to.
//!
//! [`Db::load`] reads what `mongodump` and `mongoexport` write, and fixtures that were written by hand; [`Db::dump`]
//! writes what `mongorestore` reads.
//!
//! What this module is not: a store. What is loaded is in memory from then on, and nothing is written until somebody
//! says so.

mod file;
mod json;
mod layout;
mod load;
mod metadata;
mod name;
mod write;

use std::path::{Path, PathBuf};

use crate::collection::Db;
use crate::error::{Error, Result};
use crate::store::Memory;

/// What [`Db::load`] has loaded.
///
/// ```
/// use odm::Db;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("odm-report-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("books.json"), "[{\"_id\": 1}, {\"_id\": 2}]")?;
/// std::fs::write(folder.join("README.md"), "Two books.")?;
/// let report = Db::memory().load(&folder)?;
/// assert_eq!(report.collections[0].collection, "books");
/// assert_eq!(report.documents(), 2);
/// assert_eq!(report.skipped[0].path, folder.join("README.md"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// The collections and views, views last.
    pub collections: Vec<LoadedCollection>,
    /// What was found and not loaded.
    pub skipped: Vec<SkippedFile>,
}

impl LoadReport {
    /// How many documents there were in all.
    pub fn documents(&self) -> u64 {
        let counts = self.collections.iter().map(|loaded| loaded.documents);
        counts.sum()
    }
}

/// A collection or a view that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedCollection {
    /// The database's name.
    pub database: String,
    /// The collection's.
    pub collection: String,
    /// How many documents its file had; a view has none.
    pub documents: u64,
}

/// A file, or a part of one, that was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Why it was not loaded.
    pub reason: String,
}

impl Db {
    /// Fills an in-memory database from a folder: a dump of `mongodump`, exports of `mongoexport`, or fixtures.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "books")]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     title: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let fixtures = std::env::temp_dir().join(format!("odm-load-{}", std::process::id()));
    /// # std::fs::create_dir_all(&fixtures)?;
    /// std::fs::write(fixtures.join("books.json"), r#"{"_id": 1, "title": "Emma"}"#)?;
    ///
    /// let db = Db::memory();
    /// db.load(&fixtures)?;
    /// assert_eq!(db.collection::<Book>().get(&1).await?.unwrap().title, "Emma");
    /// # std::fs::remove_dir_all(&fixtures)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # The files
    /// - A file in the folder is a collection of this database; a folder in it is another database, with files of its
    ///   own: `books.json`, `shop/orders.bson`. `.gz` may stand behind, as `mongodump --gzip` writes it. Extended JSON has 4 GiB
    ///   at most, decompressed.
    /// - `books.bson` has documents one behind the other. `books.json` has Extended JSON, canonical or relaxed:
    ///   documents one behind the other, on a line each or not, or an array of them.
    /// - `books.metadata.json` has the options that the collection is made with, and its indexes, which are built when
    ///   its documents are there. A view has this file alone.
    /// - Characters that file names can't have are written as `mongodump` does: `caf%C3%A9s.bson`.
    ///
    /// Documents are stored as they stand, in their order; one without an `_id` gets one. Names that begin with a dot
    /// are passed over; what else is not loaded, such as a server's users, the [report](LoadReport) tells with the reason.
    ///
    /// # Collections that are there already
    /// They take the documents, if their validator does, and the indexes. Their options must be those of the metadata,
    /// if that has some. What a new collection's validator says of the documents of its dump is not asked.
    ///
    /// # All or nothing
    /// Others see all collections at once when everything is loaded, or nothing if something fails. It blocks until
    /// then: do it before a test begins, or where blocking is allowed.
    ///
    /// # Errors
    /// [`is_file`](Error::is_file): a file or the folder can't be read, or a file does not hold what its name says; the
    /// error names file, document, and byte or line. What the engine refuses keeps its code, below the file's name:
    /// [`is_duplicate_key`](Error::is_duplicate_key), [`is_validation_failure`](Error::is_validation_failure). A write conflict
    /// ([`is_retryable`](Error::is_retryable)): somebody else wrote to the same collections meanwhile.
    /// [`is_unsupported`](Error::is_unsupported): the database is on a server.
    pub fn load(&self, folder: impl AsRef<Path>) -> Result<LoadReport> {
        load::load(
            self.memory_of("mongorestore")?,
            folder.as_ref(),
            self.name(),
        )
    }

    /// Writes all databases of an in-memory engine to a folder, as `mongodump` does: `load`, `mongorestore` and
    /// `bsondump` read it.
    ///
    /// ```
    /// use odm::bson::doc;
    /// use odm::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let folder = std::env::temp_dir().join(format!("odm-dump-{}", std::process::id()));
    /// let db = Db::memory();
    /// db.run_command(doc! { "insert": "books", "documents": [{ "_id": 1 }] }).await?;
    /// db.dump(&folder)?;
    /// assert!(folder.join("test").join("books.bson").exists());
    ///
    /// let other = Db::memory();
    /// other.load(&folder)?;
    /// let reply = other.run_command(doc! { "count": "books" }).await?;
    /// assert_eq!(reply.get_i32("n").ok(), Some(1));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It is of one moment: writes that are under way are in it or not, and others need not wait. Each database has a
    /// folder with the documents of each collection (`books.bson`), their options and their indexes
    /// (`books.metadata.json`); of a view there is the latter.
    ///
    /// The folder is made. An older dump in it is replaced, and is whole until the newer one is; a folder that holds
    /// anything else, such as fixtures in JSON, is refused.
    ///
    /// # Errors
    /// [`is_file`](Error::is_file): the folder holds something else than a dump, or can't be written to.
    /// [`is_unsupported`](Error::is_unsupported): the database is on a server.
    pub fn dump(&self, folder: impl AsRef<Path>) -> Result<()> {
        write::dump(
            &self.memory_of("mongodump")?.service().root(),
            folder.as_ref(),
        )
    }

    /// Whether [`dump`](Self::dump) may write to a folder, which is made: for programs that dump when they end, and
    /// want to know when they start.
    ///
    /// ```
    /// use odm::Db;
    ///
    /// # fn main() -> odm::Result<()> {
    /// # let folder = std::env::temp_dir().join(format!("odm-check-{}", std::process::id()));
    /// let db = Db::memory();
    /// db.check_dump(&folder)?;
    /// std::fs::write(folder.join("thesis.txt"), "").unwrap();
    /// assert!(db.check_dump(&folder).unwrap_err().is_file());
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_dump(&self, folder: impl AsRef<Path>) -> Result<()> {
        self.memory_of("mongodump")?;
        write::check(folder.as_ref())
    }

    fn memory_of(&self, tool: &str) -> Result<&Memory> {
        self.store.engine().ok_or_else(|| {
            Error::unsupported(format!(
                "only an in-memory database has files loaded and dumped: for a server there is {tool}"
            ))
        })
    }
}
