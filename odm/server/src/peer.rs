//! What is known of one connection.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bson::raw::RawDocumentBuf;
use odm_engine::Context;

use crate::activity::Seat;
use crate::scram::Exchange;
use crate::wire::Compressor;

/// One connection's client.
pub(crate) struct Peer {
    pub(crate) id: i64,
    pub(crate) address: SocketAddr,
    /// What its commands run in.
    pub(crate) context: Context,
    /// True where somebody wants what it does to end.
    pub(crate) killed: Arc<AtomicBool>,
    /// What both know, the client's favourite first.
    pub(crate) compressors: Vec<Compressor>,
    /// What the client said of itself in its first `hello`.
    pub(crate) metadata: Option<RawDocumentBuf>,
    /// Who it proved to be.
    pub(crate) user: Option<String>,
    /// How far it has come with the proof.
    pub(crate) conversation: Option<Conversation>,
}

/// A proof under way.
pub(crate) enum Conversation {
    /// The client is to prove that it knows the password.
    Proving {
        exchange: Exchange,
        user: String,
        /// It does without an empty exchange at the end.
        skips: bool,
    },
    /// It has, and says one more thing that is empty.
    Proved { user: String },
}

impl Peer {
    pub(crate) fn new(seat: &Seat, context: Context) -> Self {
        Self {
            id: seat.connection,
            address: seat.address,
            context: context.interrupted_by(Arc::clone(&seat.killed)),
            killed: Arc::clone(&seat.killed),
            compressors: Vec::new(),
            metadata: None,
            user: None,
            conversation: None,
        }
    }
}

impl Peer {
    /// Whether somebody wants what it does to end.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("id", &self.id)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
