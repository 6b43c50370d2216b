//! The state of one connection.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bson::raw::RawDocumentBuf;
use odm_engine::Context;

use crate::current_op::ConnectionEntry;
use crate::scram::Exchange;
use crate::wire::Compressor;

/// One connection's client.
pub(crate) struct Client {
    pub(crate) id: i64,
    pub(crate) address: SocketAddr,
    /// The context of its commands.
    pub(crate) context: Context,
    /// Becomes true when its operation is killed.
    pub(crate) killed: Arc<AtomicBool>,
    /// The compressors that both sides support, in the client's order of preference.
    pub(crate) compressors: Vec<Compressor>,
    /// Whether it has sent a `hello`.
    pub(crate) greeted: bool,
    /// The client metadata from its first `hello`.
    pub(crate) metadata: Option<RawDocumentBuf>,
    /// The authenticated user.
    pub(crate) user: Option<String>,
    /// The state of a running authentication.
    pub(crate) conversation: Option<Conversation>,
}

/// A running authentication.
pub(crate) enum Conversation {
    /// The client still has to prove that it knows the password.
    Proving {
        exchange: Exchange,
        user: String,
        /// The client skips the empty exchange at the end.
        skips: bool,
    },
    /// The password is proved; the client still sends an empty message.
    Proved { user: String },
}

impl Client {
    pub(crate) fn new(seat: &ConnectionEntry, context: Context) -> Self {
        Self {
            id: seat.connection,
            address: seat.address,
            context: context.interrupted_by(Arc::clone(&seat.killed)),
            killed: Arc::clone(&seat.killed),
            compressors: Vec::new(),
            greeted: false,
            metadata: None,
            user: None,
            conversation: None,
        }
    }
}

impl Client {
    /// Whether its operation was killed.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("id", &self.id)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
