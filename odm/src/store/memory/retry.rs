//! Which operations the official driver sends again after a network error.

use bson::Document;

use crate::store::operation::Operation;

/// How a command is sent again after an error that says that it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    Never,
    Read,
    /// With the transaction number of the first try, so that the engine executes it once.
    Write,
    /// As a commit, which names its transaction anyway.
    Commit,
}

impl Operation {
    /// How the driver retries the operation outside of transactions.
    pub(super) fn retry(&self) -> Retry {
        match self {
            Self::Find { .. }
            | Self::Count { .. }
            | Self::EstimatedCount
            | Self::Distinct { .. } => Retry::Read,
            Self::Aggregate { pipeline } if !pipeline.last().is_some_and(writes) => Retry::Read,
            Self::InsertOne { .. }
            | Self::InsertMany { .. }
            | Self::Replace { .. }
            | Self::FindAndUpdate(_)
            | Self::FindAndReplace { .. }
            | Self::FindAndDelete { .. }
            | Self::Delete { multi: false, .. } => Retry::Write,
            Self::Update(update) if !update.multi => Retry::Write,
            // Batches of statements are raw commands to the driver.
            Self::Aggregate { .. }
            | Self::Update(_)
            | Self::Delete { .. }
            | Self::Updates { .. }
            | Self::Deletes { .. }
            | Self::Drop => Retry::Never,
        }
    }
}

/// Whether the stage writes the results of its pipeline.
fn writes(stage: &Document) -> bool {
    let name = stage.keys().next().map(String::as_str);
    matches!(name, Some("$out" | "$merge"))
}
