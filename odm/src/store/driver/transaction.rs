//! Transactions of the driver's sessions.

use mongodb::ClientSession;
use mongodb::options as theirs;

use super::errors::error;
use super::options;
use crate::error::Result;
use crate::store::session::TransactionOptions;

pub(crate) async fn start_transaction(
    session: &mut ClientSession,
    ours: TransactionOptions,
) -> Result<()> {
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
