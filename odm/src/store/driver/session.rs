//! The driver's sessions, and their transactions.

use mongodb::ClientSession;
use mongodb::options as theirs;

use super::errors::error;
use super::options;
use crate::error::Result;
use crate::store::session::TransactionOptions;

/// The driver's session. The driver does not expose the transaction's state, so it is tracked here.
#[derive(Debug)]
pub(crate) struct DriverSession {
    pub(super) session: ClientSession,
    in_transaction: bool,
}

impl DriverSession {
    pub(super) fn new(session: ClientSession) -> Self {
        Self {
            session,
            in_transaction: false,
        }
    }

    pub(crate) fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    pub(crate) async fn start_transaction(&mut self, ours: TransactionOptions) -> Result<()> {
        let mut chosen = theirs::TransactionOptions::default();
        chosen.read_concern = ours.read_concern.map(options::read_concern);
        chosen.write_concern = ours.write_concern.as_ref().map(options::write_concern);
        chosen.selection_criteria = ours
            .read_preference
            .as_ref()
            .map(options::selection_criteria);
        chosen.max_commit_time = ours.max_commit_time;
        let action = self.session.start_transaction().with_options(chosen);
        action.await.map_err(error)?;
        self.in_transaction = true;
        Ok(())
    }

    pub(crate) async fn commit_transaction(&mut self) -> Result<()> {
        self.in_transaction = false;
        self.session.commit_transaction().await.map_err(error)
    }

    pub(crate) async fn abort_transaction(&mut self) -> Result<()> {
        self.in_transaction = false;
        self.session.abort_transaction().await.map_err(error)
    }
}
