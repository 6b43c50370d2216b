//! Snapshots and transactions.
