//! What may happen to a command on its way to the engine and back.

/// How a command fails.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection breaks before the command is executed.
    LostRequest,
    /// The command is executed, and the connection breaks before the reply arrives.
    LostReply,
    /// The member is not the primary, so the command is not executed.
    NotPrimary,
    /// The command meets a write of another transaction.
    Conflict,
}

/// A command that may fail, by what happens after it has failed.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The first try of a command that is retried.
    FirstTry,
    /// Its second and last try.
    Retry,
    /// A command that is not retried.
    Once,
    /// The next batch of a cursor.
    GetMore,
    /// The next batch of a change stream, which is resumed.
    Stream,
    /// A command in a transaction.
    Statement {
        writes: bool,
        /// Whether the transaction will run again.
        is_retried: bool,
    },
}

impl Target {
    /// Whether the library recovers from the fault, so that no caller sees it.
    pub(super) fn is_recovered(self) -> bool {
        match self {
            Self::FirstTry | Self::Stream => true,
            Self::Retry | Self::Once | Self::GetMore => false,
            Self::Statement { is_retried, .. } => is_retried,
        }
    }

    pub(super) fn may_have(self, fault: Fault) -> bool {
        match fault {
            Fault::LostRequest | Fault::LostReply => true,
            Fault::NotPrimary => !matches!(self, Self::GetMore | Self::Stream),
            Fault::Conflict => matches!(self, Self::Statement { writes: true, .. }),
        }
    }

    /// One command in this many fails.
    pub(super) fn one_in(self) -> u64 {
        match self {
            Self::FirstTry | Self::Retry | Self::Once => 8,
            Self::Stream => 16,
            // Transactions have many statements.
            Self::Statement { .. } => 32,
            // Results have many batches.
            Self::GetMore => 64,
        }
    }
}
