//! What every stage is.

use std::fmt;

use odm_language::error::ServerError;
use odm_language::expression::Globals;

use crate::pipeline::{Documents, Source};

/// One parsed stage.
pub(crate) trait Stage: fmt::Debug + Send + Sync {
    /// Streams documents through.
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError>;

    /// Fails if a constant part of its expressions does.
    fn check_constants(&self, _globals: &Globals) -> Result<(), ServerError> {
        Ok(())
    }

    /// The other collections that it reads or writes.
    fn collections(&self) -> Vec<Other> {
        Vec::new()
    }

    /// What a plan may take over.
    fn planned(&self) -> Planned<'_> {
        Planned::No
    }

    /// Its name, if it makes documents of its own in the place of a collection's: it must then be the first.
    fn begins(&self) -> Option<&'static str> {
        None
    }

    /// Another collection of the database that it asks about in that way, and the name of the stage that does.
    fn tells_of(&self) -> Option<(&str, &'static str)> {
        None
    }

    /// The collection that the stage writes to; it must then be the last.
    fn target(&self) -> Option<Target<'_>> {
        None
    }
}

/// Another collection that a stage reads or writes.
#[derive(Debug, Clone)]
pub(crate) struct Other {
    /// `None` for the database that the command runs on.
    pub(crate) database: Option<String>,
    pub(crate) collection: String,
    /// How many sub-pipelines deep it is read, where a command checks that before it runs.
    pub(crate) depth: Option<usize>,
}

/// Where a pipeline ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'s> {
    /// `$merge` or `$out`.
    pub(crate) stage: &'static str,
    /// `None` for the database that the command runs on.
    pub(crate) database: Option<&'s str>,
    pub(crate) collection: &'s str,
    /// The fields that a unique index must be on.
    pub(crate) unique: Option<&'s [String]>,
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
    /// The collection whose documents come in at the beginning.
    pub(crate) collection: &'a str,
    pub(crate) globals: &'a Globals,
}
