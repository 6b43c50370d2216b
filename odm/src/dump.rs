//! Loads an in-memory database from a folder of files, and dumps it to one.
//!
//! [`Db::import`] reads what `mongodump` and `mongoexport` write, and fixtures that were written by hand; [`Db::dump`]
//! writes what `mongorestore` reads.
//!
//! This module is not a store: loaded data stays in memory, and only [`Db::dump`] writes it to files.

#[cfg(feature = "pull")]
mod contents;
mod file;
mod layout;
mod load;
mod metadata;
mod name;
mod write;

use std::path::{Path, PathBuf};

#[cfg(feature = "pull")]
pub(crate) use self::contents::{Content, Contents};
use crate::collection::Db;
use crate::error::{Error, Result};
use crate::store::Memory;

/// The collections that [`Db::import`] loaded, and the files that it skipped.
///
/// ```
/// use odm::Db;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("odm-report-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("books.json"), "[{\"_id\": 1}, {\"_id\": 2}]")?;
/// std::fs::write(folder.join("README.md"), "Two books.")?;
/// let report = Db::memory().import(&folder)?;
/// assert_eq!(report.collections[0].collection, "books");
/// assert_eq!(report.documents(), 2);
/// assert_eq!(report.skipped[0].path, folder.join("README.md"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// The collections and views, views last.
    pub collections: Vec<LoadedCollection>,
    /// The files that were found but not loaded.
    pub skipped: Vec<SkippedFile>,
}

impl ImportReport {
    /// The number of documents in all collections.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("odm-documents-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("books.json"), r#"[{"_id": 1}, {"_id": 2}]"#)?;
    /// std::fs::write(folder.join("authors.json"), r#"{"_id": 1}"#)?;
    /// assert_eq!(Db::memory().import(&folder)?.documents(), 3);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok(())
    /// # }
    /// ```
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
    /// The collection's name.
    pub collection: String,
    /// The number of documents in its file; 0 for a view.
    pub documents: u64,
}

/// A file, or a part of one, that was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// The path of the file.
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
    /// db.import(&fixtures)?;
    /// assert_eq!(db.collection::<Book>().get(&1).await?.unwrap().title, "Emma");
    /// # std::fs::remove_dir_all(&fixtures)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # The files
    /// - A file in the folder is a collection of this database. A subfolder is another database, with files
    ///   of its own: `books.json`, `shop/orders.bson`. Each name may end in `.gz`, as with
    ///   `mongodump --gzip`. A file of Extended JSON may have at most 4 GiB, decompressed.
    /// - `books.bson` holds documents one after the other. `books.json` holds Extended JSON, canonical or
    ///   relaxed: documents one after the other, on separate lines or not, or an array of them.
    /// - `books.metadata.json` holds the options with which the collection is created, and its indexes, which
    ///   are built after its documents are loaded. A view has only this file.
    /// - Characters that file names can't have are escaped as in `mongodump`: `caf%C3%A9s.bson`.
    ///
    /// Documents are stored unchanged and in their order; one without an `_id` gets one. Names that begin
    /// with a dot are ignored. The [report](ImportReport) lists everything else that is not loaded, such as
    /// users, with the reason.
    ///
    /// # Existing collections
    /// An existing collection gets the documents, if they pass its validator, and the indexes. Its options
    /// must equal those in the metadata, if there are any. The documents of a new collection are not
    /// validated.
    ///
    /// # All or nothing
    /// Other users of the database see all collections at once when everything is loaded, or none if
    /// something fails. The call blocks until then: make it before a test begins, or where blocking is
    /// allowed.
    ///
    /// # Errors
    /// [`is_file`](Error::is_file): a file or the folder can't be read, or a file's content does not fit its
    /// name; the error names the file, the document, and the byte or line. Errors of the engine keep their
    /// code and name the file: [`is_duplicate_key`](Error::is_duplicate_key),
    /// [`is_validation_failure`](Error::is_validation_failure). A write conflict
    /// ([`is_retryable`](Error::is_retryable)): another client wrote to the same collections meanwhile.
    /// [`is_unsupported`](Error::is_unsupported): the database is on a server, not in memory.
    pub fn import(&self, folder: impl AsRef<Path>) -> Result<ImportReport> {
        load::load(
            self.memory_of("mongorestore")?,
            folder.as_ref(),
            self.name(),
        )
    }

    /// Writes all databases of an in-memory engine to a folder, as `mongodump` does: `import`, `mongorestore` and
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
    /// other.import(&folder)?;
    /// let reply = other.run_command(doc! { "count": "books" }).await?;
    /// assert_eq!(reply.get_i32("n").ok(), Some(1));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The dump is a snapshot: it has a concurrent write completely or not at all, and no write has to wait.
    /// Each database has a folder, with the documents of each collection (`books.bson`) and its options and
    /// indexes (`books.metadata.json`). A view has only the latter.
    ///
    /// The folder is created if it is missing. An older dump in it is replaced, and stays intact until the
    /// new one is complete. A folder that holds anything else, such as fixtures in JSON, is refused.
    ///
    /// # Errors
    /// [`is_file`](Error::is_file): the folder holds something other than a dump, or can't be written to.
    /// [`is_unsupported`](Error::is_unsupported): the database is on a server, not in memory.
    pub fn dump(&self, folder: impl AsRef<Path>) -> Result<()> {
        write::dump(
            &self.memory_of("mongodump")?.service().root(),
            folder.as_ref(),
        )
    }

    /// Checks whether [`dump`](Self::dump) may write to a folder, which it creates. It is for programs that
    /// dump when they end, and want to fail when they start.
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
                "only an in-memory database can load and dump files: for a server, use {tool}"
            ))
        })
    }
}
