//! What sessions and transactions are started with.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::store::options::{ReadConcern, ReadPreference, WriteConcern};

/// How the reads of a session relate, and how its transactions read and commit:
/// [`Db::start_session_with`](crate::collection::Db::start_session_with).
///
/// ```
/// # use odm::prelude::*;
/// use odm::collection::SessionOptions;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// let safe = TransactionOptions::new().write_concern(WriteConcern::majority());
/// let mut session = db.start_session_with(SessionOptions::new().transactions(safe)).await?;
/// session.start_transaction().await?;
/// # session.abort_transaction().await
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SessionOptions {
    pub(crate) causal_consistency: Option<bool>,
    pub(crate) snapshot: Option<bool>,
    pub(crate) transactions: TransactionOptions,
}

impl SessionOptions {
    /// Everything at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether each read sees what the session has read and written before, on whichever node it
    /// goes to (the default).
    pub fn causal_consistency(mut self, causal: bool) -> Self {
        self.causal_consistency = Some(causal);
        self
    }

    /// Whether all reads see the moment of the first one; such a session writes nothing. Only on a
    /// server.
    pub fn snapshot(mut self, snapshot: bool) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// What transactions of the session do, unless they are started with something else.
    pub fn transactions(mut self, options: TransactionOptions) -> Self {
        self.transactions = options;
        self
    }

    /// Refuses what contradicts itself.
    pub(crate) fn check(&self) -> Result<()> {
        if self.snapshot == Some(true) && self.causal_consistency == Some(true) {
            return Err(Error::usage(
                "a session reads one moment (`snapshot`) or what came before \
                 (`causal_consistency`): leave one of them out",
            ));
        }
        Ok(())
    }
}

/// How a transaction reads and commits; what is not set is the connection's default.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TransactionOptions {
    pub(crate) read_concern: Option<ReadConcern>,
    pub(crate) write_concern: Option<WriteConcern>,
    pub(crate) read_preference: Option<ReadPreference>,
    pub(crate) max_commit_time: Option<Duration>,
}

impl TransactionOptions {
    /// Everything at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the reads of the transaction see.
    pub fn read_concern(mut self, concern: ReadConcern) -> Self {
        self.read_concern = Some(concern);
        self
    }

    /// Who must have the transaction's writes before it counts as committed.
    pub fn write_concern(mut self, concern: WriteConcern) -> Self {
        self.write_concern = Some(concern);
        self
    }

    /// Which node reads: the primary. It is for where the connection reads from others.
    pub fn read_preference(mut self, preference: ReadPreference) -> Self {
        self.read_preference = Some(preference);
        self
    }

    /// How long the commit may take.
    pub fn max_commit_time(mut self, time: Duration) -> Self {
        self.max_commit_time = Some(time);
        self
    }

    /// These options, and of those that are not set `defaults`.
    pub(super) fn or(self, defaults: &Self) -> Self {
        Self {
            read_concern: self.read_concern.or(defaults.read_concern),
            write_concern: self
                .write_concern
                .or_else(|| defaults.write_concern.clone()),
            read_preference: self
                .read_preference
                .or_else(|| defaults.read_preference.clone()),
            max_commit_time: self.max_commit_time.or(defaults.max_commit_time),
        }
    }
}
