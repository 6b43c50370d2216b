//! Serves the in-memory engine to clients that speak MongoDB's wire protocol.
//!
//! Programs that use the driver directly, programs in other languages, shells and graphical clients connect to a
//! [`Server`] as if it were a `mongod` 6.0: the primary of a replica set with one member. Meanwhile this process keeps
//! using the same data through its [`Db`].
//!
//! The program `odm-server` runs the same server as a process of its own.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use odm_server::{BindError, Options};

use crate::collection::Db;
use crate::error::{ConfigError, ConnectionError, Error, Result};

/// Serves an in-memory engine at a port until it is dropped or [stopped](Self::stop).
///
/// The server runs one thread per connection and needs no async runtime.
///
/// ```
/// use odm::prelude::*;
/// use odm::server::Server;
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     title: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// let db = Db::memory();
/// let server = Server::bind(&db, "127.0.0.1:0")?;
/// let book = Book { id: 1, title: "Emma".into() };
/// db.collection::<Book>().insert_one(&book).await?;
///
/// // Any client may connect now; here it is the official driver.
/// # #[cfg(feature = "mongodb")] {
/// let client = Db::connect(&server.uri_of("test")).await?;
/// assert_eq!(client.collection::<Book>().get(&1).await?.unwrap().title, "Emma");
/// # }
/// server.stop();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server(odm_server::Server);

impl Server {
    /// Serves all databases of the engine behind `db` at a loopback address; port 0 picks a free port.
    ///
    /// # Errors
    ///
    /// - [`is_config`](Error::is_config): `db` is not an in-memory database, or the address is not a loopback address.
    ///   Other addresses require [`bind_all`](ServerOptions::bind_all) and a [`user`](ServerOptions::user).
    /// - [`is_connection`](Error::is_connection): the port can't be opened.
    pub fn bind(db: &Db, address: impl ToSocketAddrs) -> Result<Self> {
        Self::options().bind(db, address)
    }

    /// Returns the default options, for callers that change some of them.
    pub fn options() -> ServerOptions {
        ServerOptions::default()
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The connection string for clients, with the replica set's name. It contains no user name or password.
    pub fn uri(&self) -> String {
        self.0.uri_of("")
    }

    /// The connection string for clients, as [`uri`](Self::uri) returns it, with `database` as the default database.
    pub fn uri_of(&self, database: &str) -> String {
        self.0.uri_of(database)
    }

    /// Closes the port and every connection, and waits up to five seconds for running commands to finish. The data
    /// stays in the [`Db`].
    pub fn stop(self) {
        self.0.stop();
    }
}

/// The options of a [`Server`]; [`Server::options`] returns the defaults.
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
#[derive(Debug, Clone, Default)]
pub struct ServerOptions(Options);

impl ServerOptions {
    /// The name of the replica set whose only member this server is. Default: `odm`.
    #[must_use]
    pub fn replica_set(mut self, name: &str) -> Self {
        name.clone_into(&mut self.0.replica_set);
        self
    }

    /// The maximum number of open connections. Default: 1,000. The server closes further connections at once.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.0.max_connections = connections;
        self
    }

    /// Adds a user, and requires clients to authenticate. Every user may run every command. Adding the same name again
    /// replaces its password. Clients authenticate with SCRAM-SHA-256 against `admin`, the drivers' default.
    ///
    /// # Errors
    ///
    /// [`is_config`](crate::Error::is_config): the name is empty, or the password contains a character that RFC 4013
    /// forbids, such as a line feed.
    pub fn user(mut self, name: &str, password: &str) -> Result<Self> {
        match self.0.add_user(name, password) {
            Ok(()) => Ok(self),
            Err(message) => Err(Error::new(ConfigError::new(message))),
        }
    }

    /// Enables `configureFailPoint`, with which tests make commands fail, as `enableTestCommands` does in `mongod`. The
    /// server has `failCommand` and three other fail points.
    #[must_use]
    pub fn test_commands(mut self) -> Self {
        self.0.test_commands = true;
        self
    }

    /// Allows addresses other than loopback addresses, so that other machines can connect. This requires a
    /// [user](Self::user). Connections are not encrypted.
    #[must_use]
    pub fn bind_all(mut self) -> Self {
        self.0.bind_all = true;
        self
    }

    /// The maximum number of open cursors in the engine. Default: 10,000. At the limit, commands that may open a cursor
    /// fail with code 146, `ExceededMemoryLimit`. Idle cursors are closed after ten minutes.
    #[must_use]
    pub fn max_cursors(mut self, cursors: usize) -> Self {
        self.0.max_cursors = cursors;
        self
    }

    /// How long a connection may stay idle before the server closes it. Default: 30 minutes.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.0.idle_timeout = timeout;
        self
    }

    /// Opens the port: see [`Server::bind`].
    pub fn bind(self, db: &Db, address: impl ToSocketAddrs) -> Result<Server> {
        let Some(memory) = db.store.engine() else {
            return Err(Error::new(ConfigError::new(
                "only an in-memory database can be served: this one is on a server already",
            )));
        };
        match odm_server::Server::bind(memory.service(), self.0, address) {
            Ok(server) => Ok(Server(server)),
            Err(error @ BindError::Open(_)) => Err(Error::new(ConfigError::new(error.to_string()))),
            Err(error @ BindError::Port(_)) => Err(Error::new(ConnectionError::new(
                error.to_string(),
                false,
                Vec::new(),
                Some(Box::new(error)),
            ))),
        }
    }
}
