//! The targets of `$merge` and `$out`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::Globals;

/// The collections that the last stage of a pipeline writes to.
pub(crate) trait Sink {
    /// Opens the target of `$merge` once for all writes, so that a write conflict keeps none of them and the command
    /// runs again. `write` may be called several times.
    fn merge(
        &mut self,
        target: WriteTarget<'_>,
        creates: bool,
        write: &mut dyn FnMut(&mut dyn Merging) -> Result<(), ServerError>,
    ) -> Result<(), ServerError>;

    /// Returns an error if the target of `$out` is not a collection or is capped.
    fn check_replaced(&self, database: Option<&str>, collection: &str) -> Result<(), ServerError>;

    /// Replaces a collection's documents (`$out`), creating the collection if it does not exist.
    fn replace_all(
        &mut self,
        database: Option<&str>,
        collection: &str,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<(), ServerError>;
}

/// The target of a `$merge`, open for writing.
pub(crate) trait Merging {
    /// Writes one document. Returns false if no document matched. `globals` carries the variables of the update.
    fn write(&mut self, write: &MergeWrite<'_>, globals: &Globals) -> Result<bool, ServerError>;
}

/// One document's write by `$merge`.
#[derive(Debug)]
pub(crate) enum MergeWrite<'w> {
    /// Inserts the document.
    Insert(&'w RawDocument),
    /// Updates the document that matches the filter.
    Update {
        filter: &'w RawDocument,
        update: RawBsonRef<'w>,
        /// Whether the update inserts a document if none matches.
        upsert: bool,
        /// The document to insert as it is if none matches.
        otherwise: Option<&'w RawDocument>,
    },
}

/// The collection that a pipeline writes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteTarget<'s> {
    /// `$merge` or `$out`.
    pub(crate) stage: &'static str,
    /// `None` for the database that the command runs on.
    pub(crate) database: Option<&'s str>,
    pub(crate) collection: &'s str,
    /// The fields that must have a unique index.
    pub(crate) unique: Option<&'s [String]>,
}
