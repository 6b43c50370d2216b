//! The fields that record when a document was inserted and when it was last changed.

/// The fields declared by `#[odm(created_at)]` and `#[odm(updated_at)]`.
#[derive(Debug)]
pub struct TimestampsMeta {
    /// The stored name of the field that an insert sets, and no later write changes.
    pub created_at: Option<&'static str>,
    /// The stored name of the field that every write sets.
    pub updated_at: Option<&'static str>,
    /// The clock that updates set `updated_at` by. Inserts always take the client's.
    pub clock: Clock,
}

/// The clock that a time is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the machine that sends the write.
    Client,
    /// The clock of the MongoDB server (`$currentDate`, `$$NOW`), or of the in-memory engine.
    Server,
}
