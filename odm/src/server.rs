//! The in-memory engine as a server, for clients that speak MongoDB's wire protocol.
//!
//! For programs that use the bare driver, for other languages, for shells and graphical clients: they connect to a
//! [`Server`] as to a `mongod` 6.0 that is the primary of a replica set of one, while this process goes on to use the
//! same data through its [`Db`].
//!
//! The program `odm-server` is the same in a process of its own.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use odm_server::{BindError, Options};

use crate::collection::Db;
use crate::error::{ConfigError, ConnectionError, Error, Result};

/// The in-memory engine behind a port, until it is dropped or [stopped](Self::stop).
///
/// It has threads of its own, one for each connection, and needs no runtime.
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
    /// Serves the engine of `db`, all of its databases, at a loopback address; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config): `db` is no in-memory database, or the address is not a loopback one, which needs
    /// [`bind_all`](ServerOptions::bind_all) and a [`user`](ServerOptions::user). [`is_connection`](Error::is_connection): the port can't be opened.
    pub fn bind(db: &Db, address: impl ToSocketAddrs) -> Result<Self> {
        Self::options().bind(db, address)
    }

    /// The usual options, to be changed.
    pub fn options() -> ServerOptions {
        ServerOptions::default()
    }

    /// The address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The connection string for clients, with the replica set's name. Names and passwords of users are not in it.
    pub fn uri(&self) -> String {
        self.0.uri_of("")
    }

    /// The same, with a database in it.
    pub fn uri_of(&self, database: &str) -> String {
        self.0.uri_of(database)
    }

    /// Closes the port and every connection, and waits until the calls that are under way have ended, for five
    /// seconds at most. The data stays with the [`Db`].
    pub fn stop(self) {
        self.0.stop();
    }
}

/// How a [`Server`] is set up: [`Server::options`] gives the usual.
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
    /// The name of the replica set whose only member the server is; `odm` unless said.
    #[must_use]
    pub fn replica_set(mut self, name: &str) -> Self {
        name.clone_into(&mut self.0.replica_set);
        self
    }

    /// How many connections there may be at once, 1,000 unless said. One more is closed as soon as it is made.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.0.max_connections = connections;
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
        match self.0.add_user(name, password) {
            Ok(()) => Ok(self),
            Err(message) => Err(Error::new(ConfigError::new(message))),
        }
    }

    /// Takes `configureFailPoint`, with which a test has commands fail: `failCommand` and three more fail points, as a server that
    /// was started with `enableTestCommands` has it.
    #[must_use]
    pub fn test_commands(mut self) -> Self {
        self.0.test_commands = true;
        self
    }

    /// Lets other machines in: addresses need not be loopback ones. Who connects must be a [user](Self::user). What is
    /// sent is not encrypted.
    #[must_use]
    pub fn bind_all(mut self) -> Self {
        self.0.bind_all = true;
        self
    }

    /// How many cursors there may be at once in the engine, 10,000 unless said. While there are as many, commands that
    /// may open one more are refused (146, `ExceededMemoryLimit`). Cursors that nobody uses are closed after ten minutes.
    #[must_use]
    pub fn max_cursors(mut self, cursors: usize) -> Self {
        self.0.max_cursors = cursors;
        self
    }

    /// How long a connection may say nothing before it is closed, 30 minutes unless said.
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
