//! The error of starting a server.

use std::net::IpAddr;
use std::{fmt, io};

/// Why a [`Server`](super::Server) was not started.
#[derive(Debug)]
pub enum BindError {
    /// The address is not a loopback address, and the options do not allow that.
    Open(IpAddr),
    /// The port can't be opened.
    Port(io::Error),
}

impl From<io::Error> for BindError {
    fn from(error: io::Error) -> Self {
        Self::Port(error)
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(address) => write!(
                f,
                "{address} is not a loopback address: bind to 127.0.0.1, or set `bind_all` and a `user`"
            ),
            Self::Port(error) => write!(f, "the server's port can't be opened: {error}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(_) => None,
            Self::Port(error) => Some(error),
        }
    }
}
