//! The driver's sessions, and their transactions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bson::doc;
use mongodb::options as theirs;
use mongodb::{Client, ClientSession, Database};

use super::errors::error;
use super::lease::{InFlight, Lease, end};
use super::options;
use crate::error::{Error, Result};
use crate::store::session::TransactionOptions;
use crate::store::{Capability, Transactions};

/// Whether the client's deployment has transactions, as far as known; shared by all handles of the client.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownTransactions(Arc<AtomicU8>);

impl KnownTransactions {
    const NONE: u8 = 1;
    const REPLICATED: u8 = 2;
    const SHARDED: u8 = 3;

    /// The transactions of the deployment, which is asked once. While it can't be reached, it counts as a replica set: the
    /// first operation of a transaction meets the same failure.
    pub(super) async fn get(&self, client: &Client) -> Option<Transactions> {
        let mut known = self.0.load(Ordering::Relaxed);
        if known == 0
            && let Ok(capability) = capability(client).await
        {
            known = self.note(capability);
        }
        (known != Self::NONE).then_some(Transactions {
            is_sharded: known == Self::SHARDED,
        })
    }

    fn note(&self, capability: Capability) -> u8 {
        let known = match capability {
            it if !it.transactions => Self::NONE,
            it if it.sharded => Self::SHARDED,
            _ => Self::REPLICATED,
        };
        self.0.store(known, Ordering::Relaxed);
        known
    }
}

/// Asks the deployment what it can do.
pub(super) async fn capability(client: &Client) -> Result<Capability> {
    let admin = client.database("admin");
    let hello = admin.run_command(doc! {"hello": 1}).await;
    Ok(Capability::of_hello(&hello.map_err(error)?))
}

/// The driver's session. The driver does not expose the transaction's state, so it is tracked here.
#[derive(Debug)]
pub(crate) struct DriverSession {
    lease: Lease,
    in_transaction: bool,
    transactions: KnownTransactions,
}

impl DriverSession {
    pub(super) fn new(
        session: ClientSession,
        database: Database,
        transactions: KnownTransactions,
    ) -> Self {
        Self {
            lease: Lease::for_transactions(session, database),
            in_transaction: false,
            transactions,
        }
    }

    /// The session for one command, and the flag that the command sets while it is in flight.
    pub(super) fn lend(&mut self) -> Result<(&mut ClientSession, InFlight)> {
        self.lease.lend()
    }

    /// Fails if the deployment has no transactions. Without this check, the first write of the transaction would fail,
    /// with a message about transaction numbers.
    async fn check_transactions(&mut self) -> Result<()> {
        if self.transactions.0.load(Ordering::Relaxed) > KnownTransactions::NONE {
            return Ok(());
        }
        match capability(&self.lease.session()?.client()).await {
            Ok(capability) if !capability.transactions => Err(Error::unsupported(
                "this deployment is a standalone mongod, which has no transactions: start it with `--replSet` and \
                 initiate the replica set, even of one member",
            )),
            Ok(capability) => {
                self.transactions.note(capability);
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
        let action = self.lease.session()?.start_transaction();
        action.with_options(chosen).await.map_err(error)?;
        self.in_transaction = true;
        Ok(())
    }

    pub(crate) async fn commit_transaction(&mut self) -> Result<()> {
        self.in_transaction = false;
        let (session, in_flight) = self.lease.lend()?;
        let was_dropped = in_flight.is_set();
        in_flight.sent();
        let committed = session.commit_transaction().await;
        if !was_dropped {
            in_flight.answered();
        }
        // A dropped command may arrive yet. If it was the first one of the transaction, the driver has sent no commit.
        committed.map_err(error)
    }

    pub(crate) async fn abort_transaction(&mut self) -> Result<()> {
        self.in_transaction = false;
        let database = self.lease.database();
        let (session, in_flight) = self.lease.lend()?;
        let was_dropped = in_flight.is_set();
        in_flight.sent();
        let aborted = if was_dropped {
            Box::pin(end(session, database.as_ref())).await
        } else {
            session.abort_transaction().await
        };
        in_flight.answered();
        aborted.map_err(error)
    }
}
