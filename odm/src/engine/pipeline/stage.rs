//! What every stage is.

use std::fmt;

use crate::engine::expression::Globals;
use crate::engine::pipeline::{Documents, Source};
use crate::error::ServerError;

/// One parsed stage.
pub(crate) trait Stage: fmt::Debug + Send + Sync {
    /// Streams documents through.
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError>;

    /// Fails if a constant part of its expressions does.
    fn check_constants(&self, _globals: &Globals) -> Result<(), ServerError> {
        Ok(())
    }

    /// Another collection that it reads: database and name.
    fn collections(&self) -> Vec<(Option<String>, String)> {
        Vec::new()
    }

    /// What a plan may take over.
    fn planned(&self) -> Planned<'_> {
        Planned::No
    }

    /// Whether the stage writes, and so must be the last.
    fn writes(&self) -> bool {
        false
    }
}

/// What a stage means to the planner.
#[derive(Debug)]
pub(crate) enum Planned<'s> {
    Filter(&'s bson::raw::RawDocument),
    Sort(&'s bson::raw::RawDocument),
    Limit(u64),
    No,
}

/// What a running stage may use.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) globals: &'a Globals,
}
