//! What a store can do, as data.

/// What the store behind a [`Db`](crate::collection::Db) can do. The test suite lists it for each
/// store, so that a difference shows in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capability {
    /// Whether sessions can run transactions. A standalone server can't; the driver finds out when
    /// the first one starts.
    pub transactions: bool,
    /// Whether reads can go to a secondary and writes wait for one.
    pub secondaries: bool,
    /// Whether what is written outlives the process.
    pub durable: bool,
}
