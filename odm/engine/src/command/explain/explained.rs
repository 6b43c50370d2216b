//! A command that is to be explained.

use bson::raw::{RawBsonRef, RawDocument};

use crate::catalog::namespace::Namespace;
use crate::command::args::Args;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Planner,
    Stats,
    AllPlans,
}

/// A command that is to be explained, as its own file reads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explained<'a> {
    pub(crate) command: &'a RawDocument,
    /// The value of the command's own name.
    pub(crate) target: RawBsonRef<'a>,
    pub(crate) args: &'a Args<'a>,
    pub(crate) namespace: &'a Namespace,
    pub(crate) verbosity: Verbosity,
}
