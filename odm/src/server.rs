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
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use odm::server::Server;
    ///
    /// let server = Server::bind(&db, "127.0.0.1:0")?;
    /// let client = Db::connect(&server.uri_of(db.name())).await?;
    /// assert_eq!(client.collection::<Book>().find_all().count().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let server = Server::options().replica_set("tests").bind(&db, "127.0.0.1:0")?;
    /// assert!(server.uri().ends_with("?replicaSet=tests"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn options() -> ServerOptions {
        ServerOptions::default()
    }

    /// The address that the server listens on.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let server = Server::bind(&db, "127.0.0.1:0")?;
    /// assert!(server.address().ip().is_loopback());
    /// assert_ne!(server.address().port(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The connection string for clients, with the replica set's name. It contains no user name or password.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let server = Server::bind(&db, "127.0.0.1:0")?;
    /// let expected = format!("mongodb://{}/?replicaSet=odm", server.address());
    /// assert_eq!(server.uri(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uri(&self) -> String {
        self.0.uri_of("")
    }

    /// The connection string for clients, as [`uri`](Self::uri) returns it, with `database` as the default database.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let server = Server::bind(&db, "127.0.0.1:0")?;
    /// let expected = format!("mongodb://{}/shop?replicaSet=odm", server.address());
    /// assert_eq!(server.uri_of("shop"), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uri_of(&self, database: &str) -> String {
        self.0.uri_of(database)
    }

    /// Closes the port and every connection, and waits up to five seconds for running commands to finish. The data
    /// stays in the [`Db`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::server::Server;
    /// let server = Server::bind(&db, "127.0.0.1:0")?;
    /// server.stop();
    /// assert_eq!(books.find_all().count().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let server = Server::options().replica_set("shop").bind(&db, "127.0.0.1:0")?;
    /// assert!(server.uri().ends_with("?replicaSet=shop"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn replica_set(mut self, name: &str) -> Self {
        name.clone_into(&mut self.0.replica_set);
        self
    }

    /// The maximum number of open connections. Default: 1,000. The server closes further connections at once.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// # use std::io::Read;
    /// # use std::net::TcpStream;
    /// let server = Server::options().max_connections(1).bind(&db, "127.0.0.1:0")?;
    /// let first = TcpStream::connect(server.address())?;
    /// let mut second = TcpStream::connect(server.address())?;
    /// assert_eq!(second.read(&mut [0])?, 0, "the server closes it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.0.max_connections = connections;
        self
    }

    /// Adds a user, and requires clients to authenticate. Every user may run every command. Adding the same name again
    /// replaces its password. Clients authenticate with SCRAM-SHA-256 against `admin`, the drivers' default.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::server::Server;
    /// let server = Server::options().user("ann", "pencil")?.bind(&db, "127.0.0.1:0")?;
    /// let uri = server.uri_of(db.name()).replace("//", "//ann:pencil@");
    /// let ann = Db::connect(&uri).await?;
    /// assert_eq!(ann.collection::<Book>().find_all().count().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::server::Server;
    /// let server = Server::options().test_commands().bind(&db, "127.0.0.1:0")?;
    /// let admin = Db::connect(&server.uri_of("admin")).await?;
    /// let data = doc! {"failCommands": ["insert"], "errorCode": 50};
    /// let point = doc! {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": data};
    /// admin.run_command(point).await?;
    /// let books = admin.database(db.name()).collection::<Book>();
    /// let error = books.insert_one(book(4, "Persuasion", 1817)).await.unwrap_err();
    /// assert_eq!(error.code(), Some(50.into()));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn test_commands(mut self) -> Self {
        self.0.test_commands = true;
        self
    }

    /// Allows addresses other than loopback addresses, so that other machines can connect. This requires a
    /// [user](Self::user). Connections are not encrypted.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let options = Server::options().bind_all();
    /// // Without a user, it is refused.
    /// let refused = options.clone().bind(&db, "0.0.0.0:0").unwrap_err();
    /// assert!(refused.is_config());
    /// # if false {
    /// let server = options.user("ann", "pencil")?.bind(&db, "0.0.0.0:27017")?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bind_all(mut self) -> Self {
        self.0.bind_all = true;
        self
    }

    /// The maximum number of open cursors in the engine. Default: 10,000. At the limit, commands that may open a cursor
    /// fail with code 146, `ExceededMemoryLimit`. Idle cursors are closed after ten minutes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::server::Server;
    /// let server = Server::options().max_cursors(1).bind(&db, "127.0.0.1:0")?;
    /// let books = Db::connect(&server.uri_of(db.name())).await?.collection::<Book>();
    /// let open = books.find_all().batch_size(1).await?;
    /// let error = books.find_all().all().await.unwrap_err();
    /// assert_eq!(error.code(), Some(146.into()));
    /// # drop(open);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_cursors(mut self, cursors: usize) -> Self {
        self.0.max_cursors = cursors;
        self
    }

    /// How long a connection may stay idle before the server closes it. Default: 30 minutes.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// # use std::io::Read;
    /// # use std::net::TcpStream;
    /// # use std::time::Duration;
    /// let options = Server::options().idle_timeout(Duration::from_millis(50));
    /// let server = options.bind(&db, "127.0.0.1:0")?;
    /// let mut idle = TcpStream::connect(server.address())?;
    /// assert_eq!(idle.read(&mut [0])?, 0, "the server closes it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.0.idle_timeout = timeout;
        self
    }

    /// Opens the port: see [`Server::bind`].
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::server::Server;
    /// # let db = Db::memory();
    /// let server = Server::options().max_connections(8).bind(&db, "127.0.0.1:0")?;
    /// assert!(server.address().ip().is_loopback());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
