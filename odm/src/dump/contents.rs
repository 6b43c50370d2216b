//! The collections of a folder as they stand there, for readers that need no database.

use std::path::{Path, PathBuf};

use bson::Document;
use bson::raw::RawDocument;

use super::SkippedFile;
use super::file::{self, Documents};
use super::layout::{Format, Layout, TimeSeries};
use super::load::MAX_JSON_BYTES;
use super::metadata::Metadata;
use crate::error::{Error, FileError, Result};
use crate::types::json::text as json;

/// The collections of a folder.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) collections: Vec<Content>,
    pub(crate) skipped: Vec<SkippedFile>,
}

/// A collection or a view in a folder.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) database: String,
    pub(crate) name: String,
    /// The fields of `create`.
    pub(crate) options: Document,
    /// In the form of `listIndexes`, without that on `_id`.
    pub(crate) indexes: Vec<Document>,
    documents: Option<(Format, PathBuf)>,
}

impl Contents {
    /// Lists the collections. Files in the folder itself belong to `database`.
    pub(crate) fn read(folder: &Path, database: &str) -> Result<Self> {
        let layout = Layout::read(folder, database, TimeSeries::Skip)?;
        let mut skipped = layout.skipped;
        let mut collections = Vec::new();
        for (namespace, files) in layout.collections {
            let metadata = match &files.metadata {
                Some(path) => Metadata::read(path)?,
                None => Metadata::default(),
            };
            for name in &metadata.unknown {
                skipped.push(SkippedFile {
                    path: files.metadata.clone().unwrap_or_default(),
                    reason: format!("its field `{name}` is not known"),
                });
            }
            collections.push(Content {
                database: namespace.database.to_string(),
                name: namespace.collection.to_string(),
                options: metadata.options,
                indexes: metadata.indexes,
                documents: files.documents,
            });
        }
        Ok(Self {
            collections,
            skipped,
        })
    }
}

impl Content {
    /// Calls `visit` with each document. An error of `visit` is about that document.
    pub(crate) fn each(
        &self,
        mut visit: impl FnMut(&RawDocument) -> Result<(), String>,
    ) -> Result<()> {
        let Some((format, path)) = &self.documents else {
            return Ok(());
        };
        let mut number: u64 = 0;
        let mut visit = |document: &RawDocument| {
            number += 1;
            visit(document).map_err(|message| {
                Error::new(FileError::new(
                    path,
                    format!("document {number}: {message}"),
                ))
            })
        };
        match format {
            Format::Bson => {
                let mut documents = Documents::open(path)?;
                while let Some(document) = documents.next()? {
                    visit(&document)?;
                }
            }
            Format::Json => {
                let documents = json::documents(&file::read(path, MAX_JSON_BYTES)?)
                    .map_err(|message| Error::new(FileError::new(path, message)))?;
                for document in documents {
                    visit(&document)?;
                }
            }
        }
        Ok(())
    }
}
