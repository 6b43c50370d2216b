//! Transactions of the driver's sessions.

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
pub(crate) struct KnownTransactions(Arc<AtomicBool>);

/// Asks the deployment what it can do.
pub(super) async fn capability(client: &Client) -> Result<Capability> {
    let admin = client.database("admin");
    let hello = admin.run_command(doc! {"hello": 1}).await;
    Ok(Capability::of_hello(&hello.map_err(error)?))
}

/// Fails if the deployment has no transactions. Without this check, the first write of the transaction would
/// fail, with a message about transaction numbers.
async fn check_transactions(client: &Client, known: &KnownTransactions) -> Result<()> {
    if known.0.load(Ordering::Relaxed) {
        return Ok(());
    }
    match capability(client).await {
        Ok(capability) if !capability.transactions => Err(Error::unsupported(
            "this deployment is a standalone mongod, which has no transactions: start it with `--replSet` and \
             initiate the replica set, even of one member",
        )),
        Ok(_) => {
            known.0.store(true, Ordering::Relaxed);
            Ok(())
        }
        // The first operation of the transaction meets the same failure, and can be retried.
        Err(_) => Ok(()),
    }
}

pub(crate) async fn start_transaction(
    session: &mut ClientSession,
    known: &KnownTransactions,
    ours: TransactionOptions,
) -> Result<()> {
    check_transactions(&session.client(), known).await?;
    let mut chosen = theirs::TransactionOptions::default();
    chosen.read_concern = ours.read_concern.map(options::read_concern);
    chosen.write_concern = ours.write_concern.as_ref().map(options::write_concern);
    chosen.selection_criteria = ours
        .read_preference
        .as_ref()
        .map(options::selection_criteria);
    chosen.max_commit_time = ours.max_commit_time;
    session
        .start_transaction()
        .with_options(chosen)
        .await
        .map_err(error)
}
