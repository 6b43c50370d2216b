//! A query condition inside an update: `$pull` and `arrayFilters`.

use bson::raw::RawDocument;

use crate::engine::expression::Globals;
use crate::error::{Code, ServerError};

#[derive(Debug)]
pub(super) struct Condition {}

impl Condition {
    pub(super) fn parse(condition: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        let _ = (condition, globals);
        Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "conditions in updates are not supported yet",
        ))
    }

    pub(super) fn matches(&self, document: &RawDocument) -> Result<bool, ServerError> {
        let _ = document;
        Ok(false)
    }
}

/// The element of an array that a filter matches.
#[cfg(test)]
pub(super) fn position(
    _filter: &RawDocument,
    _document: &RawDocument,
    _globals: &Globals,
) -> Result<Option<usize>, ServerError> {
    Ok(None)
}
