//! Finds the files of a folder, and the collections that they belong to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use odm_engine::Namespace;

use crate::dump::metadata::{MAX_BYTES, Metadata};
use crate::dump::{SkippedFile, file, name};
use crate::error::{Error, FileError, Result};
use crate::types::json::text as json;

/// The subfolder in which a dump is written before it is moved into place.
pub(super) const STAGE: &str = ".odm-dump";

/// The folder inside [`STAGE`] to which an older dump is moved while a newer one replaces it.
pub(super) const OLDER: &str = "older";

/// The file in which mongodump records its own version.
pub(super) const PRELUDE: &str = "prelude.json";

/// The files of all collections.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) collections: BTreeMap<Namespace, Files>,
    pub(super) skipped: Vec<SkippedFile>,
    /// Whether there is a file of a kind that dumps have.
    is_dump: bool,
}

/// The files of one collection.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) documents: Option<(Format, PathBuf)>,
    pub(super) metadata: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Bson,
    Json,
}

/// The treatment of a time-series collection's buckets, which the engine does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeSeries {
    Refuse,
    #[cfg(feature = "pull")]
    Skip,
}

/// The content of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Documents(Format),
    Metadata,
}

impl Kind {
    /// The kind of a file, and its name without the endings.
    pub(super) fn of(file: &str) -> Option<(Self, &str)> {
        let plain = file.strip_suffix(".gz").unwrap_or(file);
        [
            (".metadata.json", Self::Metadata),
            (".json", Self::Documents(Format::Json)),
            (".bson", Self::Documents(Format::Bson)),
        ]
        .into_iter()
        .find_map(|(ending, kind)| Some((kind, plain.strip_suffix(ending)?)))
        .filter(|(_, name)| !name.is_empty())
    }
}

impl Layout {
    /// Lists the files. Those in `folder` itself belong to `database`; those in a subfolder belong to the
    /// database of its name.
    pub(super) fn read(folder: &Path, database: &str, time_series: TimeSeries) -> Result<Self> {
        if folder.join(STAGE).join(OLDER).exists() {
            return Err(unfinished(folder));
        }
        let mut layout = Self::default();
        let entries = entries(folder)?;
        let (folders, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.path.is_dir());
        let any = !(folders.is_empty() && files.is_empty());
        let mut files = files;
        files.retain(|file| match file.name.trim_end_matches(".gz") {
            "oplog.bson" => {
                layout.skip(
                    &file.path,
                    "a log of what was written during a dump is not applied",
                );
                false
            }
            _ => true,
        });
        layout.add(database, files, time_series)?;
        for folder in folders {
            let (of_collections, others): (Vec<_>, Vec<_>) = self::entries(&folder.path)?
                .into_iter()
                .partition(|entry| !entry.path.is_dir());
            for other in others {
                layout.skip(
                    &other.path,
                    "the folder of a database may contain only files",
                );
            }
            layout.add(&folder.name, of_collections, time_series)?;
        }
        if any && !layout.is_dump {
            let message = "no collections are in it: it may hold a file for each (`books.bson`, `books.json`), or a \
                           folder for each database (`shop/books.bson`)";
            return Err(Error::new(FileError::new(folder, message)));
        }
        Ok(layout)
    }

    fn skip(&mut self, path: &Path, reason: &str) {
        self.skipped.push(SkippedFile {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// Adds the files of a database.
    fn add(&mut self, database: &str, files: Vec<Entry>, time_series: TimeSeries) -> Result<()> {
        let has_metadata = files
            .iter()
            .any(|file| matches!(Kind::of(&file.name), Some((Kind::Metadata, _))));
        for file in files {
            let path = file.path;
            let fault = |message: String| Error::new(FileError::new(&path, message));
            let Some((kind, stem)) = Kind::of(&file.name) else {
                self.skip(&path, "its name ends neither in `.bson` nor in `.json`");
                continue;
            };
            self.is_dump = true;
            if file.name.trim_end_matches(".gz") == PRELUDE && is_prelude(&path)? {
                continue;
            }
            let Some(collection) = collection(&path, kind, stem)? else {
                return Err(fault("this is not a valid name of a collection".to_owned()));
            };
            if let Some(reason) = why_skipped(database, &collection) {
                self.skip(&path, reason);
                continue;
            }
            if collection == "system.indexes" {
                if has_metadata {
                    self.skip(&path, "indexes are built from metadata");
                    continue;
                }
                let message = "indexes are read from metadata, which MongoDB has dumped since 2.2";
                return Err(fault(message.to_owned()));
            }
            if collection.starts_with("system.buckets.") {
                if time_series != TimeSeries::Refuse {
                    self.skip(
                        &path,
                        "it has the buckets of a time series, which has no model",
                    );
                    continue;
                }
                return Err(fault("the engine has no time series".to_owned()));
            }
            let namespace = Namespace::new(database, &collection);
            namespace
                .check_create()
                .map_err(|error| Error::from(error).context(path.display().to_string()))?;
            let files = self.collections.entry(namespace).or_default();
            let other = match kind {
                Kind::Metadata => files.metadata.replace(path.clone()),
                Kind::Documents(format) => files
                    .documents
                    .replace((format, path.clone()))
                    .map(|(_, other)| other),
            };
            if let Some(other) = other {
                let message = format!("{} is for the same collection", other.display());
                return Err(fault(message));
            }
        }
        Ok(())
    }
}

/// The entries of a folder, sorted by name, without hidden files.
pub(super) fn entries(folder: &Path) -> Result<Vec<Entry>> {
    let failed = |error| Error::new(FileError::io(folder, "read", error));
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else {
            return Err(Error::new(FileError::new(&path, "its name is not UTF-8")));
        };
        if !name.starts_with('.') {
            entries.push(Entry { name, path });
        }
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// The collection that a file belongs to.
fn collection(path: &Path, kind: Kind, stem: &str) -> Result<Option<String>> {
    if !name::is_cut(stem) {
        return Ok(name::decode(stem));
    }
    let is_compressed = path.extension().is_some_and(|ending| ending == "gz");
    let ending = if is_compressed { ".gz" } else { "" };
    let beside = match kind {
        Kind::Metadata => path.to_owned(),
        Kind::Documents(_) => path.with_file_name(format!("{stem}.metadata.json{ending}")),
    };
    Ok(Metadata::read(&beside)?.collection)
}

/// Whether the file is mongodump's record of its version, and not a collection of that name.
fn is_prelude(path: &Path) -> Result<bool> {
    let known = |name: &String| matches!(name.as_str(), "ServerVersion" | "ToolVersion");
    Ok(json::document(&file::read(path, MAX_BYTES)?)
        .is_ok_and(|document| !document.is_empty() && document.keys().all(known)))
}

/// Why a system collection is not loaded.
fn why_skipped(database: &str, collection: &str) -> Option<&'static str> {
    let users = "users, roles and a server's version are not loaded";
    let own = "a server keeps it for itself";
    match (database, collection) {
        (_, "system.views") => Some("views are made from their metadata"),
        (_, "system.profile") => Some("what a profiler wrote is not loaded"),
        (_, name) if name.starts_with('$') => Some(users),
        ("admin", name) if name.starts_with("system.") => Some(users),
        ("config" | "local", name) if name.starts_with("system.") => Some(own),
        ("config", "transactions" | "image_collection") | ("local", "startup_log") => Some(own),
        ("local", name) if name.starts_with("oplog.") || name.starts_with("replset.") => Some(own),
        _ => None,
    }
}

/// The error for a dump that was interrupted while it replaced an older one.
pub(super) fn unfinished(folder: &Path) -> Error {
    let stage = folder.join(STAGE);
    let message = format!(
        "a dump was interrupted while it replaced an older one: {} has the files of the older one that were moved \
         already, and the folder beside it those of the newer one that were not; put one of the two together, and remove {}",
        stage.join(OLDER).display(),
        stage.display(),
    );
    Error::new(FileError::new(folder, message))
}
