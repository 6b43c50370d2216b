//! How a server is set up.

use std::time::Duration;

/// How a [`Server`](super::Server) is set up: [`Server::options`](super::Server::options) gives the usual.
///
/// ```
/// use std::time::Duration;
///
/// use odm::prelude::*;
/// use odm::server::Server;
///
/// # fn main() -> odm::Result<()> {
/// let db = Db::memory();
/// let server = Server::options()
///     .replica_set("tests")
///     .max_connections(8)
///     .idle_timeout(Duration::from_secs(60))
///     .bind(&db, "127.0.0.1:0")?;
/// assert!(server.uri().ends_with("/?replicaSet=tests"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub(crate) replica_set: String,
    pub(crate) max_connections: usize,
    pub(crate) idle_timeout: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            replica_set: "odm".to_owned(),
            max_connections: 1_000,
            idle_timeout: Duration::from_secs(30 * 60),
        }
    }
}

impl ServerOptions {
    /// The name of the replica set whose only member the server is; `odm` unless said.
    #[must_use]
    pub fn replica_set(mut self, name: &str) -> Self {
        name.clone_into(&mut self.replica_set);
        self
    }

    /// How many connections there may be at once, 1,000 unless said. One more is closed as soon as it is made.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// How long a connection may say nothing before it is closed, 30 minutes unless said.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }
}
