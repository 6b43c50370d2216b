//! Files that can't be read or written, or that have unexpected content.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::{Error, Kind};

/// The file or folder, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct FileError {
    path: PathBuf,
    message: String,
    source: Option<io::Error>,
}

impl FileError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
            source: None,
        }
    }

    /// An I/O error of the operating system.
    pub(crate) fn io(path: &Path, doing: &str, source: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            message: format!("it can't be {doing}: {source}"),
            source: Some(source),
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source),
            None => None,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl From<FileError> for Kind {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Error {
    /// Whether a file or a folder can't be read or written, or has unexpected content. The message names it.
    ///
    /// ```
    /// let error = odm::Db::memory().import("no/such/folder").unwrap_err();
    /// assert!(error.is_file());
    /// ```
    pub fn is_file(&self) -> bool {
        matches!(self.kind(), Kind::File(_))
    }
}
