//! What is known of one connection.

use std::net::SocketAddr;

use bson::raw::RawDocumentBuf;

use crate::server::wire::Compressor;

/// One connection's client.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) id: i64,
    pub(crate) address: SocketAddr,
    /// What both know, the client's favourite first.
    pub(crate) compressors: Vec<Compressor>,
    /// What the client said of itself in its first `hello`.
    pub(crate) metadata: Option<RawDocumentBuf>,
}

impl Peer {
    pub(crate) fn new(id: i64, address: SocketAddr) -> Self {
        Self {
            id,
            address,
            compressors: Vec::new(),
            metadata: None,
        }
    }
}
