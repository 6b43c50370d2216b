//! A command that is to be explained.

use bson::raw::{RawBsonRef, RawDocument};

use crate::catalog::namespace::Namespace;
use crate::command::args::Args;

/// How much detail the reply contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Planner,
    Stats,
    AllPlans,
}

/// A command that is to be explained, as passed to the command's own file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explained<'a> {
    pub(crate) command: &'a RawDocument,
    /// The command's first value.
    pub(crate) target: RawBsonRef<'a>,
    pub(crate) args: &'a Args<'a>,
    pub(crate) namespace: &'a Namespace,
    pub(crate) verbosity: Verbosity,
}
