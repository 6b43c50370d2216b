//! The in-memory engine as a server, for clients that speak MongoDB's wire protocol.
//!
//! For programs that use the bare driver, for other languages, for shells and graphical clients: they connect to a
//! [`Server`] as to a `mongod` 6.0 that is the primary of a replica set of one, while this process goes on to use the
//! same data through its [`Db`].
//!
//! The program `odm-server` is the same in a process of its own.

mod activity;
mod answer;
mod command;
mod connection;
mod fail_point;
mod gossip;
mod host;
mod options;
mod peer;
pub(crate) mod scram;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::collection::Db;
use crate::error::{ConfigError, ConnectionError, Error, Result};

use host::Host;
pub use options::ServerOptions;

/// How long a server that stops waits for calls that are under way.
const GRACE: Duration = Duration::from_secs(5);

/// The stack of a connection's thread. The deepest commands that are taken need up to 2 MiB of it in a build that is not
/// optimised, which is all that a thread has usually; what is not needed is no memory, only addresses.
const STACK: usize = 8 * 1024 * 1024;

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
pub struct Server {
    host: Arc<Host>,
    acceptor: Option<JoinHandle<()>>,
}

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

    fn start(options: ServerOptions, db: &Db, address: impl ToSocketAddrs) -> Result<Self> {
        let Some(memory) = db.store.engine() else {
            return Err(Error::new(ConfigError::new(
                "only an in-memory database can be served: this one is on a server already",
            )));
        };
        let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(failed)?.collect();
        let open = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(open) = open
            && (!options.bind_all || options.users.is_empty())
        {
            return Err(Error::new(ConfigError::new(format!(
                "{} is no loopback address: bind to 127.0.0.1, or say `bind_all` and which `user` may connect",
                open.ip()
            ))));
        }
        let listener = TcpListener::bind(&*addresses).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        memory.log_changes();
        let host = Arc::new(Host::new(memory.clone(), options, address));
        let accepting = Arc::clone(&host);
        let acceptor = thread::Builder::new()
            .name("odm-server".to_owned())
            .spawn(move || accept(&listener, &accepting))
            .map_err(failed)?;
        Ok(Self {
            host,
            acceptor: Some(acceptor),
        })
    }

    /// The address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.host.address
    }

    /// The connection string for clients, with the replica set's name. Names and passwords of users are not in it.
    pub fn uri(&self) -> String {
        self.uri_of("")
    }

    /// The same, with a database in it.
    pub fn uri_of(&self, database: &str) -> String {
        let options = &self.host.options;
        // A client takes the database of the string for that of its user.
        let source = if options.users.is_empty() {
            ""
        } else {
            "&authSource=admin"
        };
        format!(
            "mongodb://{}/{database}?replicaSet={}{source}",
            self.host.address, options.replica_set
        )
    }

    /// Closes the port and every connection, and waits until the calls that are under way have ended, for five
    /// seconds at most. The data stays with the [`Db`].
    pub fn stop(mut self) {
        self.close();
    }

    fn close(&mut self) {
        let Some(acceptor) = self.acceptor.take() else {
            return;
        };
        self.host.stop();
        // Nothing else wakes a thread that waits for connections.
        drop(TcpStream::connect_timeout(
            &self.host.address,
            Duration::from_secs(1),
        ));
        // It only panics where a thread can't be made.
        let _ = acceptor.join();
        self.host.wait_for_connections(GRACE);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

impl ServerOptions {
    /// Opens the port: see [`Server::bind`].
    pub fn bind(self, db: &Db, address: impl ToSocketAddrs) -> Result<Server> {
        Server::start(self, db, address)
    }
}

fn failed(error: io::Error) -> Error {
    let message = format!("the server's port can't be opened: {error}");
    Error::new(ConnectionError::new(
        message,
        false,
        Vec::new(),
        Some(Box::new(error)),
    ))
}

/// A connection that is forgotten when its thread ends, however that comes.
struct Served {
    host: Arc<Host>,
    id: i64,
}

impl Served {
    fn serve(&self, stream: &TcpStream, address: SocketAddr) {
        connection::serve(&self.host, stream, address, self.id);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.host.dismiss(self.id);
    }
}

fn accept(listener: &TcpListener, host: &Arc<Host>) {
    loop {
        let accepted = listener.accept();
        if host.is_stopping() {
            return;
        }
        match accepted {
            Ok((stream, address)) => {
                let Some(id) = host.admit(&stream) else {
                    continue; // too many: dropping the stream closes it
                };
                let served = Served {
                    host: Arc::clone(host),
                    id,
                };
                let thread = thread::Builder::new()
                    .name(format!("conn{id}"))
                    .stack_size(STACK);
                // Where there is no thread for it, it is dropped, and with it the connection.
                let _ = thread.spawn(move || served.serve(&stream, address));
            }
            // Too many open files, most likely: some will be closed.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}
