//! Error messages for misused sessions, shared by both stores.

pub(crate) const NOTHING_STARTED: &str =
    "no transaction is under way: call `start_transaction` first";
pub(crate) const UNDER_WAY: &str = "a transaction is already under way: commit or abort it first";
pub(crate) const COMMIT_ABORTED: &str = "the transaction was aborted: there is nothing to commit";
pub(crate) const ABORT_COMMITTED: &str = "the transaction is committed: it can't be aborted";
pub(crate) const ABORT_TWICE: &str = "the transaction is already aborted";
pub(crate) const NOT_FROM_PRIMARY: &str =
    "a transaction reads from the primary: leave the read preference out";
