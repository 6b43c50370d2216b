//! The driver's sessions, and their transactions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bson::doc;
use mongodb::options as theirs;
use mongodb::{Client, ClientSession};

use super::errors::error;
use super::options;
use crate::error::{Error, Result};
use crate::store::Capability;
use crate::store::session::TransactionOptions;

/// Whether the client's deployment is known to run transactions; shared by all handles of the client.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownTransactions(Arc<AtomicBool>);

/// Asks the deployment what it can do.
pub(super) async fn capability(client: &Client) -> Result<Capability> {
    let admin = client.database("admin");
    let hello = admin.run_command(doc! {"hello": 1}).await;
    Ok(Capability::of_hello(&hello.map_err(error)?))
}

/// The driver's session. The driver does not expose the transaction's state, so it is tracked here.
#[derive(Debug)]
pub(crate) struct DriverSession {
    pub(super) session: ClientSession,
    in_transaction: bool,
    transactions: KnownTransactions,
}

impl DriverSession {
    pub(super) fn new(session: ClientSession, transactions: KnownTransactions) -> Self {
        Self {
            session,
            in_transaction: false,
            transactions,
        }
    }

    /// Fails if the deployment has no transactions. Without this check, the first write of the transaction would fail,
    /// with a message about transaction numbers.
    async fn check_transactions(&self) -> Result<()> {
        let known = &self.transactions.0;
        if known.load(Ordering::Relaxed) {
            return Ok(());
        }
        match capability(&self.session.client()).await {
            Ok(capability) if !capability.transactions => Err(Error::unsupported(
                "this deployment is a standalone mongod, which has no transactions: start it with `--replSet` and \
                 initiate the replica set, even of one member",
            )),
            Ok(_) => {
                known.store(true, Ordering::Relaxed);
                Ok(())
            }
            // The first operation of the transaction meets the same failure, and can be retried.
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    pub(crate) async fn start_transaction(&mut self, ours: TransactionOptions) -> Result<()> {
        self.check_transactions().await?;
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
