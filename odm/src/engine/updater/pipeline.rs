//! An update made of stages: `[{$set: {total: {$add: ["$a", "$b"]}}}]`.

use bson::raw::{RawArray, RawDocument};

use crate::engine::expression::Globals;
use crate::engine::updater::Applied;
use crate::error::{Code, ServerError};

#[derive(Debug)]
pub(super) struct UpdatePipeline {}

impl UpdatePipeline {
    pub(super) fn parse(_stages: &RawArray, _globals: &Globals) -> Result<Self, ServerError> {
        Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "pipeline-style updates are not supported yet",
        ))
    }

    pub(super) fn apply(
        &self,
        document: &RawDocument,
        _globals: &Globals,
    ) -> Result<Applied, ServerError> {
        Ok(Applied {
            document: document.to_owned(),
            modified: false,
        })
    }
}
