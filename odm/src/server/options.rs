//! How a server is set up.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::error::{ConfigError, Error, Result};
use crate::server::scram::Credentials;

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
#[derive(Clone)]
pub struct ServerOptions {
    pub(crate) replica_set: String,
    pub(crate) max_connections: usize,
    pub(crate) max_cursors: usize,
    pub(crate) idle_timeout: Duration,
    pub(crate) bind_all: bool,
    pub(crate) test_commands: bool,
    /// By name.
    pub(crate) users: BTreeMap<String, Credentials>,
}

/// Nothing secret is shown.
impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions")
            .field("replica_set", &self.replica_set)
            .field("max_connections", &self.max_connections)
            .field("max_cursors", &self.max_cursors)
            .field("idle_timeout", &self.idle_timeout)
            .field("bind_all", &self.bind_all)
            .field("test_commands", &self.test_commands)
            .field("users", &self.users.keys())
            .finish()
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            replica_set: "odm".to_owned(),
            max_connections: 1_000,
            max_cursors: 10_000,
            idle_timeout: Duration::from_secs(30 * 60),
            bind_all: false,
            test_commands: false,
            users: BTreeMap::new(),
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

    /// Lets in only who knows a user's password. Users may do everything; each may be said several times, the last
    /// password counts. Clients authenticate with SCRAM-SHA-256 against `admin`, as they do by default.
    ///
    /// # Errors
    ///
    /// [`is_config`](crate::Error::is_config): an empty name, or a password with characters that RFC 4013 lets into
    /// none, such as a line feed.
    pub fn user(mut self, name: &str, password: &str) -> Result<Self> {
        let refused = |message: String| Err(Error::new(ConfigError::new(message)));
        if name.is_empty() {
            return refused("a user has a name that is not empty".to_owned());
        }
        match Credentials::new(password) {
            Ok(credentials) => {
                self.users.insert(name.to_owned(), credentials);
                Ok(self)
            }
            Err(_) => refused(format!(
                "the password of the user `{name}` has characters that no password may have"
            )),
        }
    }

    /// Takes `configureFailPoint`, with which a test has commands fail: `failCommand` and three more fail points, as a server that
    /// was started with `enableTestCommands` has it.
    #[must_use]
    pub fn test_commands(mut self) -> Self {
        self.test_commands = true;
        self
    }

    /// Lets other machines in: addresses need not be loopback ones. Who connects must be a [user](Self::user). What is
    /// sent is not encrypted.
    #[must_use]
    pub fn bind_all(mut self) -> Self {
        self.bind_all = true;
        self
    }

    /// How many cursors there may be at once in the engine, 10,000 unless said. While there are as many, commands that
    /// may open one more are refused (146, `ExceededMemoryLimit`). Cursors that nobody uses are closed after ten minutes.
    #[must_use]
    pub fn max_cursors(mut self, cursors: usize) -> Self {
        self.max_cursors = cursors;
        self
    }

    /// How long a connection may say nothing before it is closed, 30 minutes unless said.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }
}
