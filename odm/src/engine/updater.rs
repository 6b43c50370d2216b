//! Update operators, replacement documents and update pipelines, applied to one document.
//!
//! [`Update::parse`] checks everything that does not depend on a document; [`Update::apply`] makes the new one.
//!
//! What this module is not: it finds no documents, keeps no records and generates no `_id`.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine::expression::Globals;
use crate::error::{Code, ServerError};

/// A parsed update.
#[derive(Debug)]
pub(crate) struct Update {}

/// What an update made of a document.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) document: RawDocumentBuf,
    /// False where nothing changed: the document is then the one given.
    pub(crate) modified: bool,
}

impl Update {
    /// Parses `u`: an operator document, a replacement document, or a pipeline.
    pub(crate) fn parse(
        update: RawBsonRef<'_>,
        array_filters: Option<&RawArray>,
        globals: &Globals,
    ) -> Result<Self, ServerError> {
        let _ = (update, array_filters, globals);
        Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "updates are not supported yet",
        ))
    }

    /// Whether the whole document is replaced: refused with `multi: true`, and what `findAndModify`'s and
    /// `update`'s replies call a replacement.
    pub(crate) fn is_replacement(&self) -> bool {
        false
    }

    /// Whether the filter must say which element the positional `$` means (see `Matcher::match_position`).
    pub(crate) fn needs_position(&self) -> bool {
        false
    }

    /// The new document. `matched_index` is the element that the filter matched, for the positional `$`;
    /// `inserting` is true for an upsert, whose document is the filter's equalities (`upsert::seed`).
    pub(crate) fn apply(
        &self,
        document: &RawDocument,
        matched_index: Option<usize>,
        globals: &Globals,
        inserting: bool,
    ) -> Result<Applied, ServerError> {
        let _ = (matched_index, globals, inserting);
        Ok(Applied {
            document: document.to_owned(),
            modified: false,
        })
    }
}
