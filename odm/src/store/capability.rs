//! The features of a store, as data.

/// The features that the store behind a [`Db`](crate::collection::Db) supports. The test suite
/// lists them for each store, so that every change shows in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capability {
    /// Whether sessions can run transactions. A standalone `mongod` can't, which the driver
    /// reports only when the first transaction starts.
    pub transactions: bool,
    /// Whether reads can go to a secondary, and writes can wait for a secondary.
    pub secondaries: bool,
    /// Whether written data outlives the process.
    pub durable: bool,
}
